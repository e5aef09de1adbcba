"""A bounded part of a day's rows: whole blocks, the same ones each time, all of them where there are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.partitions import name_partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from psycopg import Connection
    from psycopg.rows import TupleRow

MOST_BLOCKS = 4_096
"""Of a table and day: 32 MB, which a cold disk reads in well under a second."""

SAMPLED = "TABLESAMPLE SYSTEM (%(percent)s) REPEATABLE (0)"
"""After a table's name, with `DaySample.percent`; the blocks of a share are among those of a larger one."""

_SIZES = """
SELECT d.day, pg_relation_size(to_regclass(d.name)) / current_setting('block_size')::int
FROM unnest(%(days)s::date[], %(names)s::text[]) AS d(day, name)
WHERE to_regclass(d.name) IS NOT NULL
"""


class DaySample(NamedTuple):
    """Which part of a day is looked at.

    Attributes:
        share: 1.0 = all of it.
    """

    day: date
    blocks: int
    share: float

    @property
    def percent(self) -> float:
        """The share as `TABLESAMPLE` takes it."""
        return 100.0 * self.share


def plan_samples(
    connection: Connection[TupleRow], table: str, days: Iterable[date], *, most_blocks: int = MOST_BLOCKS
) -> list[DaySample]:
    """What is looked at of each day that has a partition, in the order of the days.

    Args:
        connection: in a transaction.
        table: partitioned by day.
        days: which are meant.
        most_blocks: of one day.
    """
    named = {day: name_partition(table, day=day) for day in sorted(days)}
    rows = connection.execute(_SIZES, {"days": list(named), "names": list(named.values())}).fetchall()
    return [DaySample(day, blocks, choose_share(blocks, most=most_blocks)) for day, blocks in sorted(rows)]


def choose_share(blocks: int, *, most: int) -> float:
    """The largest of 1, 1/2, 1/4, ... that takes no more than `most` blocks; so it seldom changes."""
    share = 1.0
    while blocks * share > most:
        share /= 2
    return share


def measure_share(samples: Sequence[DaySample]) -> float:
    """The share of all the days together; 1.0 where they hold nothing."""
    blocks = sum(sample.blocks for sample in samples)
    return sum(sample.blocks * sample.share for sample in samples) / blocks if blocks else 1.0
