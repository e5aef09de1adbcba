"""How many live traces came from each place, and what judges made of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.day_samples import SAMPLED, measure_share, plan_samples
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import (
    BROUGHT_TRACE,
    LIVE_EVALUATION,
    LIVE_TRACE,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    fetch,
    reading_days,
)
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.watched import LOOKED_AT, JudgeCounts, Place, PlaceActivity, add_counts
from ragsonde_schemas.watched_alert import WindowCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.watched_live import Stretch

MOST_PLACES = 100
MOST_ASSESSMENT_BLOCKS = 512
"""Of each day: verdicts are large, and of some thousands a share is known well enough."""
MOST_EVALUATION_BLOCKS = 32

_KEY = "trace_id, app, record_key, revision, day"
_TRACES = f"""
SELECT t.app, t.environment, count(*) AS traces, max(least(t.occurred_at, t.admitted_at)) AS last_at
FROM trace t WHERE t.day = %(day)s AND {OCCURRED} AND {LIVE_TRACE} GROUP BY 1, 2
"""  # noqa: S608  # constants
_BROUGHT = f"""
SELECT count(*) AS n FROM trace t
WHERE t.admitted_at >= %(since)s AND t.admitted_at < %(until)s AND {BROUGHT_TRACE}
"""  # noqa: S608  # constants
_HAS_BACKFILLS = """
SELECT EXISTS (SELECT FROM evaluation WHERE created_at >= %(since)s AND backfill_id IS NOT NULL) AS is_so
"""
_STATES = f"""
SELECT t.app, t.environment, e.judge, e.state,
    CASE WHEN e.state = ANY(%(looked_at)s) THEN e.cause END AS cause, count(*) AS n
FROM evaluation e {{sampled}} {OF_BACKFILL} JOIN trace t USING ({_KEY})
WHERE e.day = %(day)s AND t.day = %(day)s AND {OCCURRED} AND {OF_PLACE} AND {LIVE_EVALUATION}
GROUP BY 1, 2, 3, 4, 5
"""  # noqa: S608  # constants
_SUFFICIENCY = f"""
SELECT t.app, t.environment, a.judge, count(*) AS assessed,
    count(*) FILTER (WHERE (a.verdicts ->> 'insufficient')::boolean) AS insufficient
FROM assessment a {{sampled}}
JOIN evaluation e USING ({_KEY}, judge, fingerprint) {OF_BACKFILL} JOIN trace t USING ({_KEY})
WHERE a.day = %(day)s AND {{written}} AND {OCCURRED} AND {OF_PLACE} AND {LIVE_EVALUATION}
  AND e.state <> 'superseded' AND a.verdicts ->> 'insufficient' IS NOT NULL
GROUP BY 1, 2, 3
"""  # noqa: S608  # constants
_SUFFICIENCY_OF_SOME = _SUFFICIENCY.format(sampled=SAMPLED, written="true")
_SUFFICIENCY_OF_NOW = _SUFFICIENCY.format(sampled="", written="a.created_at >= %(since)s")


class PlaceCounts(NamedTuple):
    """What came from a place, and what each judge made of it, by name."""

    activity: PlaceActivity
    judges: tuple[JudgeCounts, ...]


def count_places(engine: Engine, stretch: Stretch) -> tuple[PlaceCounts, ...]:
    """The busiest places with live traces that occurred then, the busiest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    bound = stretch.bind()
    traces: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    with reading_days(engine) as connection:
        for day in stretch.days:
            for row in fetch(connection, _TRACES, {**bound, "day": day}):
                traces[Place(app=row["app"], environment=row["environment"])].append(row)
    activities = [
        PlaceActivity(
            place=place,
            traces=sum(row["traces"] for row in rows),
            last_at=to_utc(max(row["last_at"] for row in rows)),
        )
        for place, rows in traces.items()
    ]
    activities.sort(key=lambda one: (-one.traces, one.place.app, one.place.environment))
    judges = count_judges(engine, stretch)
    return tuple(PlaceCounts(one, judges.get(one.place, ())) for one in activities[:MOST_PLACES])


def count_judges(engine: Engine, stretch: Stretch) -> dict[Place, tuple[JudgeCounts, ...]]:
    """What judges made of the live traces that occurred then, by place; judges by name.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with reading_days(engine) as connection:
        states = _read_states(connection, stretch, None)
        sufficiency = _read_sufficiency(connection, stretch, None)
    found = _gather(states, sufficiency)
    places: dict[Place, list[JudgeCounts]] = defaultdict(list)
    for (place, _), counts in sorted(found.items(), key=lambda item: item[0][1]):
        places[place].append(counts)
    return {place: tuple(judges) for place, judges in places.items()}


def count_brought(engine: Engine, stretch: Stretch) -> int:
    """How many traces backfills brought that were stored then.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with reading_days(engine) as connection:
        (has,) = fetch(connection, _HAS_BACKFILLS, stretch.bind())
        if not has["is_so"]:
            return 0
        (row,) = fetch(connection, _BROUGHT, stretch.bind())
    return int(row["n"])


def count_window(
    engine: Engine, place: Place | None, stretch: Stretch, *, until: datetime, is_short: bool
) -> tuple[WindowCounts, ...]:
    """What each judge made of a place's live traces then, or of those of all places, by name.

    Args:
        engine: of this process.
        place: None: all.
        stretch: of the time at which they occurred.
        until: the end that is told.
        is_short: every evaluation is looked at; else a part of each day that has very many.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    share = 1.0
    with reading_days(engine) as connection:
        if is_short:
            states = _read_states(connection, stretch, place)
            sufficiency = [
                row
                for day in stretch.days
                for row in fetch(connection, _SUFFICIENCY_OF_NOW, _bind_day(stretch, place, day, 100.0))
            ]
        else:
            samples = plan_samples(connection, "evaluation", stretch.days, most_blocks=MOST_EVALUATION_BLOCKS)
            share = measure_share(samples)
            statement = _STATES.format(sampled=SAMPLED)
            states = [
                row
                for one in samples
                for row in fetch(connection, statement, _bind_day(stretch, place, one.day, one.percent))
            ]
            most_blocks = MOST_EVALUATION_BLOCKS * 2
            sufficiency = _read_sufficiency(connection, stretch, place, most_blocks=most_blocks)
    merged: dict[str, list[JudgeCounts]] = defaultdict(list)
    for (_, judge), counts in _gather(states, sufficiency).items():
        merged[judge].append(counts)
    return tuple(
        WindowCounts(since=stretch.since, until=until, share=share, counts=add_counts(judge, merged[judge]))
        for judge in sorted(merged)
    )


def _bind_day(stretch: Stretch, place: Place | None, day: object, percent: float) -> dict[str, Any]:
    looked_at = [state.value for state in LOOKED_AT]
    return {**stretch.bind(place), "day": day, "percent": percent, "looked_at": looked_at}


def _read_states(
    connection: Connection[TupleRow], stretch: Stretch, place: Place | None
) -> list[dict[str, Any]]:
    statement = _STATES.format(sampled="")
    return [
        row
        for day in stretch.days
        for row in fetch(connection, statement, _bind_day(stretch, place, day, 100.0))
    ]


def _read_sufficiency(
    connection: Connection[TupleRow],
    stretch: Stretch,
    place: Place | None,
    *,
    most_blocks: int = MOST_ASSESSMENT_BLOCKS,
) -> list[dict[str, Any]]:
    return [
        row
        for one in plan_samples(connection, "assessment", stretch.days, most_blocks=most_blocks)
        for row in fetch(connection, _SUFFICIENCY_OF_SOME, _bind_day(stretch, place, one.day, one.percent))
    ]


def _gather(
    states: Iterable[Mapping[str, Any]], sufficiency: Iterable[Mapping[str, Any]]
) -> dict[tuple[Place, str], JudgeCounts]:
    """Rows of several days as one count for each place and judge."""
    parts: dict[tuple[Place, str], list[JudgeCounts]] = defaultdict(list)
    for row in states:
        place = Place(app=row["app"], environment=row["environment"])
        parts[place, row["judge"]].append(
            JudgeCounts(
                judge=row["judge"],
                states={read_word(EvaluationState, row["state"]): row["n"]},
                causes={} if row["cause"] is None else {read_word(Cause, row["cause"]): row["n"]},
            )
        )
    for row in sufficiency:
        place = Place(app=row["app"], environment=row["environment"])
        numbers = {"assessed": row["assessed"], "insufficient": row["insufficient"]}
        parts[place, row["judge"]].append(JudgeCounts(judge=row["judge"], **numbers))
    return {named: add_counts(named[1], some) for named, some in parts.items()}
