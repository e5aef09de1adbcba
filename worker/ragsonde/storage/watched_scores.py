"""What the scorers say of a place's traces: means, trends and the lowest of the last while."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row
from sqlalchemy import text

from ragsonde.storage.day_samples import SAMPLED, plan_samples
from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.stream_labels import judge_label, scorer_label
from ragsonde_schemas.watched import DayMean, LowTrace, ScorerSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from sqlalchemy import Engine

    from ragsonde_schemas.watched import Place

MOST_BLOCKS = 256
"""Of each day's scores: enough for a mean whose error cannot be seen in a line."""

_SUMMARY = text(
    """
SELECT s.judge, coalesce(s.answered_fingerprint, s.fingerprint) AS fingerprint, s.judge_epoch, s.scorer,
    s.version, s.cause, count(*) AS n, avg(s.raw) AS mean,
    stddev_samp(s.raw) AS deviation, count(*) FILTER (WHERE NOT s.passed) AS below, count(s.passed) AS judged
FROM current_score s JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE s.created_at >= :since AND s.app = :app AND t.environment = :environment
GROUP BY 1, 2, 3, 4, 5, 6
"""
)

_DAY = f"""
SELECT s.judge, s.scorer, count(*) AS n, avg(s.raw) AS mean
FROM score s {SAMPLED}
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE s.day = %(day)s AND s.app = %(app)s AND s.status = 'scored' AND t.environment = %(environment)s
  AND e.state <> 'superseded'
GROUP BY s.judge, s.scorer
"""  # noqa: S608  # constants

_LOWEST = text(
    """
SELECT s.trace_id, s.record_key, s.judge, s.scorer, s.raw, s.reason, t.occurred_at
FROM current_score s JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE s.created_at >= :since AND s.app = :app AND s.status = 'scored' AND t.environment = :environment
  AND s.judge = :judge AND s.scorer = ANY(:scorers)
ORDER BY s.raw, s.created_at DESC LIMIT :most
"""
)


class _Stream(NamedTuple):
    """Scores that may be averaged: one scorer and version, one model that answered."""

    judge: str
    fingerprint: str
    epoch: int
    scorer: str
    version: str


def summarise_place(
    engine: Engine, place: Place, *, since: datetime, days: Sequence[date]
) -> tuple[ScorerSummary, ...]:
    """One summary for each scorer and each model that answered, with the trend of its scorer and judge.

    Only scores that count: of the newest revision, under the active version.

    Args:
        engine: of this process.
        place: whose traces.
        since: of the means.
        days: of the trend.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    streams: dict[_Stream, list[Mapping[str, Any]]] = defaultdict(list)
    with translating_losses(), engine.connect() as connection:
        for row in connection.execute(_SUMMARY, {"since": since, **place.model_dump()}).mappings():
            names = ("judge", "fingerprint", "judge_epoch", "scorer", "version")
            streams[_Stream(*(row[name] for name in names))].append(dict(row))
    trends = _read_trends(engine, place, days=days)
    return tuple(
        _summarise(stream, rows, models=_count_models(stream, streams), days=trends)
        for stream, rows in sorted(streams.items())
    )


def find_lowest(
    engine: Engine, place: Place, *, since: datetime, judge: str, scorers: Sequence[str], most: int
) -> tuple[LowTrace, ...]:
    """The traces with the lowest of these scores, each once.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    parameters = {
        "since": since,
        **place.model_dump(),
        "judge": judge,
        "scorers": list(scorers),
        "most": most * max(1, len(scorers)),
    }
    found: dict[tuple[str, str], LowTrace] = {}
    with translating_losses(), engine.connect() as connection:
        for row in connection.execute(_LOWEST, parameters).mappings():
            low = LowTrace(**{**row, "occurred_at": to_utc(row["occurred_at"])})
            found.setdefault((low.trace_id, low.record_key), low)
    return tuple(found.values())[:most]


def _read_trends(
    engine: Engine, place: Place, *, days: Sequence[date]
) -> dict[tuple[str, str], list[DayMean]]:
    trends: dict[tuple[str, str], list[DayMean]] = defaultdict(list)
    with pipelined_transaction(engine) as connection:
        for sample in plan_samples(connection, "score", days, most_blocks=MOST_BLOCKS):
            columns = {"day": sample.day, "percent": sample.percent, **place.model_dump()}
            for row in connection.cursor(row_factory=dict_row).execute(_DAY, columns).fetchall():
                mean = DayMean(day=sample.day, n=row["n"], mean=row["mean"])
                trends[row["judge"], row["scorer"]].append(mean)
    return trends


def _count_models(stream: _Stream, streams: Iterable[_Stream]) -> int:
    """How many models answered for its judge and scorer: from the second on, labels tell them apart."""
    named = (stream.judge, stream.scorer)
    return len({(one.fingerprint, one.epoch) for one in streams if (one.judge, one.scorer) == named})


def _summarise(
    stream: _Stream,
    rows: Sequence[Mapping[str, Any]],
    *,
    models: int,
    days: Mapping[tuple[str, str], Sequence[DayMean]],
) -> ScorerSummary:
    scored = next((row for row in rows if row["cause"] is None), None)
    label = judge_label(stream.judge, stream.fingerprint, stream.epoch)
    return ScorerSummary(
        instance=stream.scorer,
        judge=label if models > 1 else stream.judge,
        scorer=scorer_label(stream.scorer, stream.version),
        n=0 if scored is None else scored["n"],
        mean=None if scored is None else scored["mean"],
        deviation=None if scored is None else scored["deviation"],
        below=scored["below"] if scored is not None and scored["judged"] else None,
        unscored={Cause(row["cause"]): row["n"] for row in rows if row["cause"] is not None},
        days=tuple(days.get((stream.judge, stream.scorer), ())),
    )
