"""How large each table is, which days it holds, and what a person should look after."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.partitions import list_partitions
from ragsonde.storage.tables import Tables
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Engine

    from ragsonde.storage.partitions import Partition

MOST_DEAD = 0.2
"""Share of dead rows beyond which a table needs vacuum sooner than autovacuum does it."""
FEWEST_DEAD = 10_000

_SIZES = """
SELECT coalesce(parent.relname, c.relname) AS name, count(i.inhrelid) AS partitions,
    sum(pg_table_size(c.oid))::bigint AS table_bytes, sum(pg_indexes_size(c.oid))::bigint AS index_bytes,
    sum(coalesce(s.n_live_tup, 0))::bigint AS live_rows, sum(coalesce(s.n_dead_tup, 0))::bigint AS dead_rows
FROM pg_class c
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND coalesce(parent.relname, c.relname) = ANY(:tables)
GROUP BY 1
"""
_PARTITION_BYTES = """
SELECT name, pg_total_relation_size(to_regclass(name)) FROM unnest(CAST(:names AS text[])) AS given(name)
WHERE to_regclass(name) IS NOT NULL
"""


class TableSize(Value):
    """One table, all its partitions together.

    Attributes:
        table_bytes: texts that Postgres keeps apart included.
        live_rows, dead_rows: as Postgres's statistics tell.
        oldest_day, newest_day: of its partitions; None for a table that has none.
    """

    name: str
    partitions: int
    table_bytes: int
    index_bytes: int
    live_rows: int
    dead_rows: int
    oldest_day: date | None = None
    newest_day: date | None = None

    @property
    def needs_vacuum(self) -> bool:
        """True where many rows are dead: space that new rows cannot use yet."""
        is_large = self.dead_rows >= FEWEST_DEAD
        return is_large and self.dead_rows > MOST_DEAD * (self.live_rows + self.dead_rows)


def measure_tables(engine: Engine) -> list[TableSize]:
    """All our tables, the largest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        rows = {
            row["name"]: dict(row)
            for row in connection.execute(text(_SIZES), {"tables": list(Tables.metadata.tables)}).mappings()
        }
        days: dict[str, list[date]] = {}
        for partition in list_partitions(connection):
            if partition.is_attached:
                days.setdefault(partition.table, []).append(partition.day)
    sizes = [
        TableSize(
            **row,
            oldest_day=min(days[name]) if name in days else None,
            newest_day=max(days[name]) if name in days else None,
        )
        for name, row in rows.items()
    ]
    return sorted(sizes, key=lambda size: (-size.table_bytes - size.index_bytes, size.name))


def measure_partitions(connection: Connection, partitions: Iterable[Partition]) -> dict[str, int]:
    """Bytes of each partition that is there, indexes included, by its name."""
    names = [partition.name for partition in partitions]
    return {name: size for name, size in connection.execute(text(_PARTITION_BYTES), {"names": names})}  # noqa: C416 - a row is no pair for mypy


def has_autovacuum(engine: Engine) -> bool:
    """False where Postgres is told never to vacuum by itself.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return bool(connection.execute(text("SHOW autovacuum")).scalar_one() == "on")
