"""Backfills that were of one app alone: found while its traces are there, and dropped with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import TAKE_TIME, translating_losses

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Engine

# one that named no app was of this one where each evaluation that it took is the app's still
_LIST = text(
    """
SELECT b.id FROM backfill b
WHERE b.app = :app OR (b.app IS NULL AND b.planned > 0 AND b.planned = (
    SELECT count(*) FROM evaluation e
    WHERE e.backfill_id = b.id AND e.app = :app AND e.day BETWEEN b.since AND b.until))
ORDER BY b.id
"""
)
_DROP_ITEMS = text("DELETE FROM backfill_item WHERE backfill_id = ANY(CAST(:numbers AS bigint[]))")
_DROP = text("DELETE FROM backfill WHERE id = ANY(CAST(:numbers AS bigint[])) RETURNING id")


def list_own_backfills(engine: Engine, *, app: str) -> tuple[int, ...]:
    """The backfills that asked for this app, and those that asked for any and took traces of it alone.

    Args:
        engine: of this process.
        app: as it is stored.

    Raises:
        DatabaseLostError: Postgres is away.
        GivenUpError: it took too long.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(text(TAKE_TIME))
        return tuple(connection.execute(_LIST, {"app": app}).scalars())


def drop_backfills(engine: Engine, numbers: Collection[int]) -> int:
    """How many of them were there still; what they had under way is with them.

    Raises:
        DatabaseLostError: it may be done or not; call again.
    """
    columns = {"numbers": list(numbers)}
    with translating_losses(), engine.begin() as connection:
        connection.execute(_DROP_ITEMS, columns)
        return len(connection.execute(_DROP, columns).all())
