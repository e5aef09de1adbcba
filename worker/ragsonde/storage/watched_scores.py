"""What the scorers say of live traces, by place and stream: mean, spread, histogram, what has no number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.day_samples import SAMPLED, measure_share, plan_samples
from ragsonde.storage.score_sums import ScoreSums
from ragsonde.storage.watched_live import (
    LIVE_EVALUATION,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    fetch,
    reading_days,
)
from ragsonde_schemas.watched import BINS, Place, ScorerSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.storage.watched_live import Stretch
    from ragsonde_schemas.watched import DayMean

MOST_BLOCKS = 32_768
"""Of each day's scores: 256 MB, about 100,000 traces; of a day with more, a part is looked at."""
FEW_BLOCKS = 4_096
"""The same where only shares are taken from it, of thresholds and of causes: 32 MB, over 10,000 traces."""

STREAM_COLUMNS = (
    "s.judge, coalesce(s.answered_fingerprint, s.fingerprint) AS fingerprint, s.judge_epoch AS epoch, "
    "s.scorer, s.version"
)
STREAM_GROUP = "s.judge, coalesce(s.answered_fingerprint, s.fingerprint), s.judge_epoch, s.scorer, s.version"
FIND_BIN = f"greatest(0, (ceil(s.raw * 100 - 1e-9)::int + {100 // BINS - 1}) / {100 // BINS} - 1)"
"""From hundredths, rounded up as those of blocks are, so that both count alike: .3 is in the third tenth.
1e-9: .07 * 100 is a little more than 7 in binary."""
SCORE_KEY = "trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version"
_KEY = "trace_id, app, record_key, revision, day"

SCORES = f"""
SELECT t.app, t.environment, {STREAM_COLUMNS}, s.cause, {FIND_BIN} AS bin, count(*) AS n, avg(s.raw) AS mean,
    var_pop(s.raw) AS variance, count(*) FILTER (WHERE NOT s.passed) AS below, count(s.passed) AS judged
FROM {{scores}} JOIN evaluation e USING ({_KEY}, judge, fingerprint) {OF_BACKFILL}
JOIN trace t USING ({_KEY})
WHERE s.day = %(day)s AND {OCCURRED} AND {OF_PLACE} AND {LIVE_EVALUATION} AND {{part}}
GROUP BY t.app, t.environment, {STREAM_GROUP}, s.cause, {FIND_BIN}
"""  # noqa: S608  # constants
WHOLE = "current_score s"
"""The scores that count: of the newest revision, under the active version."""
PART = f"score p {SAMPLED} JOIN current_score s USING ({SCORE_KEY})"
_SLOTS = 1024
_OF_SOME_TRACES = f"s.created_at >= %(since)s AND (hashtext(s.trace_id)::bigint & {_SLOTS - 1}) < %(slots)s"
"""Of a short time: its blocks are found by when they were written, and of its traces a part is looked at."""


class Outcomes(NamedTuple):
    """What the scorers say, by place, and which part of the rows was looked at."""

    scorers: dict[Place, tuple[ScorerSummary, ...]]
    share: float


def summarise_scores(
    engine: Engine, stretch: Stretch, *, place: Place | None = None, most_blocks: int = MOST_BLOCKS
) -> Outcomes:
    """One summary for each scorer and each model that answered, by place; no trends.

    Only scores that count: of live traces that occurred then, of their newest revision, under the active
    version.

    Args:
        engine: of this process.
        stretch: of the time at which traces occurred.
        place: None: all.
        most_blocks: of a day's scores that are looked at.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    sums = ScoreSums()
    with reading_days(engine) as connection:
        samples = plan_samples(connection, "score", stretch.days, most_blocks=most_blocks)
        for one in samples:
            is_whole = one.share == 1.0
            connection.execute(f"SET LOCAL enable_nestloop = {'off' if is_whole else 'on'}")
            statement = SCORES.format(scores=WHOLE if is_whole else PART, part="true")
            bound = {**stretch.bind(place), "day": one.day, "percent": one.percent}
            sums.add(fetch(connection, statement, bound))
    share = measure_share(samples)
    return Outcomes(sums.summarise(share=share), share)


def complete(
    outcomes: Mapping[Place, Sequence[ScorerSummary]], counted: Mapping[Place, Sequence[ScorerSummary]]
) -> dict[Place, tuple[ScorerSummary, ...]]:
    """Summaries of all scores, with what only a part of the rows tells: thresholds passed, and causes.

    Args:
        outcomes: of a part of the rows.
        counted: of all scores.
    """
    return {
        place: _complete(outcomes.get(place, ()), counted.get(place, ()))
        for place in (*outcomes, *(place for place in counted if place not in outcomes))
    }


def _complete(
    outcomes: Sequence[ScorerSummary], counted: Sequence[ScorerSummary]
) -> tuple[ScorerSummary, ...]:
    found = {one.stream: one for one in outcomes}
    whole = {one.stream: one for one in counted}
    merged = []
    for stream in sorted(found.keys() | whole.keys(), key=lambda one: tuple(one.model_dump().values())):
        of_part, of_all = found.get(stream), whole.get(stream)
        if of_part is None or of_all is None:
            merged.append(of_part or of_all)
            continue
        taken = {"n", "mean", "deviation", "bins", "share"}
        update = {name: getattr(of_all, name) for name in taken}
        update |= {"below_of": of_part.n, "outcome_share": of_part.share}
        merged.append(of_part.model_copy(update=update))
    return tuple(one for one in merged if one is not None)


def summarise_short(
    engine: Engine, stretch: Stretch, place: Place, *, traces: int, most_traces: int
) -> tuple[ScorerSummary, ...]:
    """The same for a place and an hour or so, of which few traces are looked at where there are many.

    Args:
        engine: of this process.
        stretch: of the time at which traces occurred.
        place: whose.
        traces: about how many there are.
        most_traces: about how many of them are looked at.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    slots = min(_SLOTS, max(1, _SLOTS * most_traces // max(1, traces)))
    statement = SCORES.format(scores=WHOLE, part=_OF_SOME_TRACES)
    sums = ScoreSums()
    with reading_days(engine) as connection:
        for day in stretch.days:
            sums.add(fetch(connection, statement, {**stretch.bind(place), "day": day, "slots": slots}))
    return sums.summarise(share=slots / _SLOTS).get(place, ())


def add_days(
    summaries: Iterable[ScorerSummary], days: Mapping[tuple[Any, ...], Sequence[DayMean]]
) -> tuple[ScorerSummary, ...]:
    """The same with the daily means of each one's own stream."""
    return tuple(
        one.model_copy(update={"days": tuple(days.get(tuple(one.stream.model_dump().values()), ()))})
        for one in summaries
    )
