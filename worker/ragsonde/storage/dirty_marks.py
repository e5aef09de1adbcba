"""Marks of blocks whose counts may be wrong: written with what makes them so, deleted once they are counted.

A mark is never changed and never shared: who counts a block deletes the marks that were there before it
looked, by their ids, after its counts are committed. What is marked meanwhile has another id, and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import BLOCK, begin_block

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from psycopg import Connection as DriverConnection
    from psycopg.rows import TupleRow
    from sqlalchemy import Connection, Engine

    from ragsonde_schemas.trace import TraceKey

BLOCK_OF = "date_bin('5 minutes', {moment}, timestamptz '1970-01-01 00:00+00')"
"""SQL: when the block of a moment begins."""
_START = BLOCK_OF.format(moment="t.occurred_at")

_IS_NARROW = "until - since = interval '5 minutes'"

_OF_RECORDS = """EXISTS (
    SELECT FROM unnest(%(trace_ids)s::text[], %(apps)s::text[], %(record_keys)s::text[], %(days)s::date[])
        AS r(trace_id, app, record_key, day)
    WHERE r.trace_id = t.trace_id AND r.app = t.app AND r.record_key = t.record_key AND r.day = t.day)
  AND t.trace_id = ANY(%(trace_ids)s) AND t.day = ANY(%(days)s)"""

_MARK = text(
    """
INSERT INTO dirty_mark (app, environment, since, until)
SELECT app, environment, start, start + interval '5 minutes'
FROM unnest(CAST(:apps AS text[]), CAST(:environments AS text[]), CAST(:starts AS timestamptz[]))
    AS r(app, environment, start)
"""
)
_MARK_STRETCH = text(
    "INSERT INTO dirty_mark (app, environment, since, until) VALUES (:app, :environment, :since, :until)"
)
_DROP_EXPIRED = text("DELETE FROM dirty_mark WHERE until <= :oldest")
# a day without a trace and without a count has nothing to be counted: else a new database would have weeks
_SPLIT = text(
    f"""
WITH wide AS (DELETE FROM dirty_mark WHERE NOT {_IS_NARROW} RETURNING *),
days AS (
    SELECT wide.*, each.day
    FROM wide, generate_series(
        date_trunc('day', greatest(since, CAST(:oldest AS timestamptz))), until, interval '1 day'
    ) AS each(day)
    WHERE EXISTS (SELECT FROM trace t WHERE t.day = CAST(each.day AS date))
      OR EXISTS (SELECT FROM score_block b WHERE b.day = CAST(each.day AS date))
)
INSERT INTO dirty_mark (app, environment, since, until, marked_at)
SELECT app, environment, start, start + interval '5 minutes', marked_at
FROM days, generate_series(
    greatest(since, :oldest, day), least(until, day + interval '1 day') - interval '5 minutes',
    interval '5 minutes'
) AS start
"""  # noqa: S608  # constants
)
_SET = text("SET LOCAL jit = off")
"""To compile a scan for every partition takes longer than to split what there is."""
_TAKE = text(
    f"""
SELECT id, app, environment, since FROM dirty_mark
WHERE {_IS_NARROW} AND since IN (
    SELECT DISTINCT since FROM dirty_mark
    WHERE {_IS_NARROW} AND until <= :ended_by AND (CAST(:before AS timestamptz) IS NULL OR since < :before)
    ORDER BY since DESC LIMIT :most)
ORDER BY since DESC, id
"""  # noqa: S608  # constants
)
_DELETE = text("DELETE FROM dirty_mark WHERE id = ANY(:ids)")


class BlockPlace(NamedTuple):
    """An app in an environment, and when a block of it begins."""

    app: str
    environment: str
    start: datetime


class DirtyBlock(NamedTuple):
    """A block to be counted anew, with the marks that say so.

    Attributes:
        places: apps and their environments; None for all.
    """

    start: datetime
    places: frozenset[tuple[str, str]] | None
    marks: tuple[int, ...]


def write_marking(where: str) -> str:
    """The statement that marks the blocks of the traces of a condition, for the driver's connection.

    Args:
        where: on the rows of `trace`, which is called `t`; a constant.
    """
    return f"""
INSERT INTO dirty_mark (app, environment, since, until)
SELECT DISTINCT t.app, t.environment, {_START}, {_START} + interval '5 minutes' FROM trace t WHERE {where}
"""  # noqa: S608  # constants


_MARK_RECORDS = write_marking(_OF_RECORDS)


def mark_records(connection: DriverConnection[TupleRow], keys: Sequence[TraceKey]) -> None:
    """Marks the blocks of all revisions of records, in the transaction that changes what counts of them."""
    if not keys:
        return
    columns = {
        "trace_ids": [key.trace_id for key in keys],
        "apps": [key.app for key in keys],
        "record_keys": [key.record_key for key in keys],
        "days": [key.day for key in keys],
    }
    connection.execute(_MARK_RECORDS, columns)


def mark_blocks(connection: Connection, blocks: Collection[BlockPlace]) -> None:
    """Marks blocks, in a transaction of the caller's."""
    if not blocks:
        return
    columns: dict[str, Any] = {
        "apps": [block.app for block in blocks],
        "environments": [block.environment for block in blocks],
        "starts": [block.start for block in blocks],
    }
    connection.execute(_MARK, columns)


def mark_stretch(
    connection: Connection,
    *,
    since: datetime,
    until: datetime,
    place: tuple[str, str] | None = None,
) -> None:
    """Marks all blocks of a stretch of time, those in which it begins and ends too.

    Args:
        connection: in a transaction of the caller's.
        since: aware.
        until: aware.
        place: an app and its environment; None: all.
    """
    app, environment = place or (None, None)
    end = begin_block(until)
    columns = {
        "app": app,
        "environment": environment,
        "since": begin_block(since),
        "until": end if end == until else end + BLOCK,
    }
    connection.execute(_MARK_STRETCH, columns)


def tidy_marks(engine: Engine, *, oldest: datetime) -> int:
    """How many marks are of blocks that are counted no more, and were dropped; others become one a block.

    Of days without a trace and without a count they become none.

    Args:
        engine: of this process.
        oldest: blocks that ended by then stay as they are.

    Raises:
        DatabaseLostError: nothing was changed, or it is not known; call again.
    """
    with translating_losses(), engine.begin() as connection:
        dropped = connection.execute(_DROP_EXPIRED, {"oldest": oldest}).rowcount
        connection.execute(_SET)
        connection.execute(_SPLIT, {"oldest": oldest})
    return dropped


def list_dirty(
    engine: Engine, *, ended_by: datetime, before: datetime | None, most: int
) -> tuple[DirtyBlock, ...]:
    """Dirty blocks, the newest first: what is watched now does not wait for what has long been over.

    Args:
        engine: of this process.
        ended_by: those that end later are left.
        before: only those that begin before it; None: all.
        most: blocks.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    found: dict[datetime, list[tuple[int, str | None, str]]] = {}
    with translating_losses(), engine.connect() as connection:
        columns = {"ended_by": ended_by, "before": before, "most": most}
        for number, app, environment, start in connection.execute(_TAKE, columns):
            found.setdefault(to_utc(start), []).append((number, app, environment))
    return tuple(
        DirtyBlock(
            start=start,
            places=None
            if any(app is None for _, app, _ in marks)
            else frozenset((app, environment) for _, app, environment in marks if app is not None),
            marks=tuple(number for number, _, _ in marks),
        )
        for start, marks in found.items()
    )


def delete_marks(engine: Engine, ids: Sequence[int]) -> None:
    """Deletes the marks of a block whose counts are committed.

    Raises:
        DatabaseLostError: they may be there still; the block is counted once more then.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_DELETE, {"ids": list(ids)})
