"""The worst live traces of a place: those with the lowest scores that count."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ragsonde.storage.table_names import REVISION_KEY
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import (
    AHEAD,
    LIVE_EVALUATION,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    fetch,
    reading_days,
)
from ragsonde_schemas.watched import LowTrace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.watched_live import Stretch
    from ragsonde_schemas.watched import Place

_FIRST_LOOK = 1_000
"""Scores, from the lowest up: so few are found without sorting all."""
_FIRST_SPAN = timedelta(hours=1)
"""Looked at first: nothing is lower than 0, and of equals the newest come first."""
_SAME_RECORD = " AND ".join(f"t.{name} = k.{name}" for name in REVISION_KEY)
_SAME_EVALUATION = " AND ".join(f"e.{name} = k.{name}" for name in (*REVISION_KEY, "judge", "fingerprint"))
_SCORE_KEY = (*REVISION_KEY, "judge", "fingerprint", "scorer", "version")
_SAME_SCORE = " AND ".join(f"s.{name} = k.{name}" for name in _SCORE_KEY)

_LOWEST = f"""
SELECT k.trace_id, k.app, k.record_key, k.judge, k.scorer, s.raw, s.reason, t.occurred_at
FROM (
    SELECT {", ".join(_SCORE_KEY)}, raw FROM score
    WHERE day = %(day)s AND app = %(app)s AND status = 'scored' AND judge = %(judge)s
      AND scorer = ANY(%(scorers)s) AND created_at >= %(written)s
    ORDER BY raw, created_at DESC LIMIT %(looked_at)s
) k
CROSS JOIN LATERAL (
    SELECT t.occurred_at FROM trace t WHERE {_SAME_RECORD} AND {OCCURRED} AND {OF_PLACE} OFFSET 0
) t
CROSS JOIN LATERAL (
    SELECT FROM evaluation e {OF_BACKFILL} WHERE {_SAME_EVALUATION} AND {LIVE_EVALUATION} OFFSET 0
) e
CROSS JOIN LATERAL (SELECT s.raw, s.reason FROM current_score s WHERE {_SAME_SCORE} OFFSET 0) s
LIMIT %(most)s
"""  # noqa: S608  # constants
"""From the lowest up, until there are enough: which of them are live and count is asked of these alone."""


def find_lowest(
    engine: Engine, place: Place, stretch: Stretch, *, judge: str, scorers: Sequence[str], most: int
) -> tuple[LowTrace, ...]:
    """The live traces that occurred then with the lowest of these scores by a judge, each once, lowest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    most_scores = most * max(1, len(scorers))
    bound = {**stretch.bind(place), "judge": judge, "scorers": list(scorers), "most": most_scores}
    with reading_days(engine) as connection:
        recent = _look(connection, stretch, {**bound, "written": stretch.until - AHEAD - _FIRST_SPAN})
        found = _choose(recent, most=most)
        if len(found) == most and found[-1].raw == 0:
            return found
        return _choose(_look(connection, stretch, {**bound, "written": stretch.since}), most=most)


def _look(connection: Connection[TupleRow], stretch: Stretch, bound: dict[str, Any]) -> list[LowTrace]:
    found: list[LowTrace] = []
    for day in reversed(stretch.days):
        for looked_at in (_FIRST_LOOK, None):  # None: at all, if those were of other places
            rows = fetch(connection, _LOWEST, {**bound, "day": day, "looked_at": looked_at})
            if len(rows) >= bound["most"]:
                break
        found += [LowTrace(**{**row, "occurred_at": to_utc(row["occurred_at"])}) for row in rows]
    return found


def _choose(found: Sequence[LowTrace], *, most: int) -> tuple[LowTrace, ...]:
    """Each trace once, the lowest first."""
    unique: dict[tuple[str, str], LowTrace] = {}
    for low in sorted(found, key=lambda low: low.raw):
        unique.setdefault((low.trace_id, low.record_key), low)
    return tuple(unique.values())[:most]
