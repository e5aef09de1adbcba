"""What a backfill may spend of its own, counted from its evaluations: nothing can be counted twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.storage.reservations import NoRoomError
from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.spending import WorstCase

_LOCK_CAPS = """
SELECT most_calls, most_usd, calls, cost_usd FROM backfill
WHERE id = %(id)s AND (most_calls IS NOT NULL OR most_usd IS NOT NULL)
FOR UPDATE
"""
"""Reservations of one backfill take turns; one without caps needs none."""

_SUM = """
SELECT coalesce(sum(coalesce(e.calls, 0) - i.calls_before), 0),
    coalesce(sum(coalesce(e.cost_usd, 0) - i.cost_before), 0),
    coalesce(sum(e.reserved_calls), 0), coalesce(sum(e.reserved_usd), 0)
FROM backfill_item i
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE i.backfill_id = %(id)s
"""
"""Of the evaluations under way; those that have ended are in the backfill's row. A statement of its own,
after the lock: it sees what those before it hold."""


def require_room(connection: Connection[TupleRow], number: int, *, worst: WorstCase) -> bool:
    """True when a backfill has room for the worst case, beside what its evaluations have spent and hold.

    False where it has no calls or dollars of its own that could be used up.

    Args:
        connection: in a transaction that reserves it next; until its end no other evaluation of the backfill
            reserves anything.
        number: of the backfill.
        worst: of one evaluation.

    Raises:
        NoRoomError: CAPPED, or BUSY where others hold the room; the block must end with it.
    """
    caps = connection.execute(_LOCK_CAPS, {"id": number}).fetchone()
    if caps is None:
        return False
    most_calls, most_usd, ended_calls, ended_usd = caps
    sums = connection.execute(_SUM, {"id": number}).fetchone()
    calls, usd, held_calls, held_usd = sums if sums is not None else (0, 0.0, 0, 0.0)
    for most, spent, held, needed in (
        (most_calls, ended_calls + calls, held_calls, worst.calls),
        # a price that is not known fits no cap in dollars
        (most_usd, ended_usd + usd, held_usd, float("inf") if worst.cost_usd is None else worst.cost_usd),
    ):
        if most is not None and spent + needed > most:
            raise NoRoomError(Reservation.CAPPED)
        if most is not None and spent + held + needed > most:
            raise NoRoomError(Reservation.BUSY)
    return True
