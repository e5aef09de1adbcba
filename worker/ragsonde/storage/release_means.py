"""What the releases of a place scored in a stretch of time, and how many live traces each had."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.day_samples import SAMPLED, measure_share, plan_samples
from ragsonde.storage.score_sums import ScoreSum, read_stream
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import (
    LIVE_EVALUATION,
    LIVE_TRACE,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    fetch,
    reading_days,
)
from ragsonde.storage.watched_scores import MOST_BLOCKS, SCORE_KEY, STREAM_COLUMNS, STREAM_GROUP
from ragsonde_schemas.watched import Place, ScoreStream

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.storage.watched_live import Stretch

_KEY = "trace_id, app, record_key, revision, day"
_TRACES = f"""
SELECT t.app, t.environment, t.release, count(*) AS traces, min(t.occurred_at) AS first_at,
    max(t.occurred_at) AS last_at
FROM trace t WHERE t.day = %(day)s AND {OCCURRED} AND {OF_PLACE} AND t.release <> '' AND {LIVE_TRACE}
GROUP BY 1, 2, 3
"""  # noqa: S608  # constants
_MEANS = f"""
SELECT t.app, t.environment, t.release, {STREAM_COLUMNS}, count(*) AS n, avg(s.raw) AS mean,
    var_pop(s.raw) AS variance
FROM score p {SAMPLED} JOIN current_score s USING ({SCORE_KEY})
JOIN evaluation e USING ({_KEY}, judge, fingerprint) {OF_BACKFILL} JOIN trace t USING ({_KEY})
WHERE s.day = %(day)s AND s.status = 'scored' AND {OCCURRED} AND {OF_PLACE} AND t.release <> ''
  AND {LIVE_EVALUATION}
GROUP BY t.app, t.environment, t.release, {STREAM_GROUP}
"""  # noqa: S608  # constants


class ReleaseMean(NamedTuple):
    """The mean raw score of a release in one stream."""

    stream: ScoreStream
    n: int
    mean: float


class SeenRelease(NamedTuple):
    """A release that had live traces.

    Attributes:
        first_at, last_at: of its traces in that time.
        means: by stream; of a day with very many scores, of a part of them.
    """

    name: str
    traces: int
    first_at: datetime
    last_at: datetime
    means: tuple[ReleaseMean, ...]


class SeenReleases(NamedTuple):
    """The releases by place, those seen last first, and which part of the scores their means are of."""

    places: dict[Place, tuple[SeenRelease, ...]]
    share: float


def read_release_means(engine: Engine, stretch: Stretch) -> SeenReleases:
    """All releases with a name that had live traces which occurred then.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    seen: dict[tuple[Place, str], list[dict[str, Any]]] = defaultdict(list)
    sums: dict[tuple[Place, str], dict[tuple[Any, ...], ScoreSum]] = defaultdict(
        lambda: defaultdict(ScoreSum)
    )
    with reading_days(engine) as connection:
        for day in stretch.days:
            for row in fetch(connection, _TRACES, {**stretch.bind(), "day": day}):
                seen[_find_key(row)].append(row)
        samples = plan_samples(connection, "score", stretch.days, most_blocks=MOST_BLOCKS)
        for one in samples:
            bound = {**stretch.bind(), "day": one.day, "percent": one.percent}
            for row in fetch(connection, _MEANS, bound):
                found = sums[_find_key(row)][read_stream(row)]
                found.merge(row["n"], mean=row["mean"], variance=row["variance"])
    places: dict[Place, list[SeenRelease]] = defaultdict(list)
    for (place, name), rows in seen.items():
        places[place].append(_build(name, rows, sums[place, name]))
    ordered = {
        place: tuple(sorted(found, key=lambda one: (one.last_at, one.name), reverse=True))
        for place, found in places.items()
    }
    return SeenReleases(ordered, measure_share(samples))


def _find_key(row: dict[str, Any]) -> tuple[Place, str]:
    return Place(app=row["app"], environment=row["environment"]), row["release"]


def _build(name: str, rows: list[dict[str, Any]], sums: dict[tuple[Any, ...], ScoreSum]) -> SeenRelease:
    return SeenRelease(
        name=name,
        traces=sum(row["traces"] for row in rows),
        first_at=to_utc(min(row["first_at"] for row in rows)),
        last_at=to_utc(max(row["last_at"] for row in rows)),
        means=tuple(
            ReleaseMean(
                ScoreStream(
                    judge=judge, fingerprint=fingerprint, epoch=epoch, scorer=scorer, version=version
                ),
                found.n,
                found.mean,
            )
            for (judge, fingerprint, epoch, scorer, version), found in sorted(sums.items())
        ),
    )
