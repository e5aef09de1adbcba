"""Reservations that nobody will settle: of runs that were superseded, or dropped, and whose worker died."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.reservations import CHECK, CHECK_KEY, EVALUATION, HELD, give_back
from ragsonde.storage.table_names import EVALUATION_KEY

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

_HELD = HELD.split(", ")

_END_EVALUATIONS = f"""
WITH stale AS (
    SELECT {", ".join(EVALUATION_KEY)} FROM evaluation
    WHERE reserved_at IS NOT NULL AND state <> 'running' AND (lease_until IS NULL OR lease_until < %(now)s)
    ORDER BY reserved_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE evaluation SET unfinished_starts = 0, lease_until = NULL,
    finished_at = coalesce(finished_at, %(now)s)
FROM stale WHERE {" AND ".join(f"evaluation.{name} = stale.{name}" for name in EVALUATION_KEY)}
RETURNING {", ".join(f"evaluation.{name}" for name in EVALUATION_KEY)}, {HELD}
"""  # noqa: S608  # constants
"""Without unfinished starts its run, should it still live, may not end it any more; its calls are counted."""

_FREE_CHECKS = f"""
WITH stale AS (
    SELECT {", ".join(CHECK_KEY)} FROM check_result
    WHERE reserved_at IS NOT NULL AND lease_until < %(now)s
    ORDER BY reserved_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE check_result SET starts = starts + 1, lease_until = NULL
FROM stale WHERE {" AND ".join(f"check_result.{name} = stale.{name}" for name in CHECK_KEY)}
RETURNING {", ".join(f"check_result.{name}" for name in CHECK_KEY)}, {HELD}
"""  # noqa: S608  # constants
"""Another start is another claim: likewise."""


def release_stale_reservations(engine: Engine, *, now: datetime, limit: int) -> int:
    """How many reservations were given back: their lease is over, and no claim of their row will do it.

    A running evaluation whose lease is over is left to whoever claims it. A check may be of a day that is
    over, or of a trace that was dropped: nobody claims it then.

    Args:
        engine: of this process.
        now: of the same clock as the stores'.
        limit: the most of either kind.

    Raises:
        DatabaseLostError: some may be given back; call again.
    """
    released = 0
    for statement, holder in ((_END_EVALUATIONS, EVALUATION), (_FREE_CHECKS, CHECK)):
        with pipelined_transaction(engine) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            rows = cursor.execute(statement, {"now": now, "limit": limit}).fetchall()
            for row in sorted(rows, key=lambda row: (row["judge"], row["reserved_at"])):
                give_back(connection, row, [row[name] for name in _HELD], calls=(), holder=holder)
            released += len(rows)
    return released
