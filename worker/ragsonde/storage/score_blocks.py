"""Reads what was counted: streams, their blocks, and how far the counting has come."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from sqlalchemy import text

from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import BINS, ScoreBlock, ScoreStream, block_at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime, timedelta

    import psycopg
    from psycopg.rows import TupleRow
    from sqlalchemy import Connection, Engine

_KEY = ", ".join(f"s.{name}" for name in STREAM_KEY)

_LIST = text(
    f"""
SELECT s.id, {_KEY}, s.first_seen_at FROM score_stream s
WHERE (CAST(:app AS text) IS NULL OR s.app = :app)
  AND EXISTS (SELECT FROM score_block b
    WHERE b.stream_id = s.id AND b.start >= :since AND b.day >= :first_day AND b.n > 0)
ORDER BY {_KEY}
"""  # noqa: S608  # constants
)

READ = """
SELECT stream_id, (extract(epoch FROM start) / 300)::bigint, stratum, n, total, squares, failed, bins, counts
FROM score_block
WHERE stream_id = ANY(%(streams)s::int[]) AND start >= %(since)s AND start < %(until)s
  AND day BETWEEN %(first_day)s AND %(last_day)s
ORDER BY stream_id, start, stratum
"""

READ_FROM = """
SELECT b.stream_id, (extract(epoch FROM b.start) / 300)::bigint, b.stratum, b.n, b.total, b.squares, b.failed,
    b.bins, b.counts
FROM unnest(%(streams)s::int[], %(since)s::timestamptz[], %(again)s::timestamptz[])
    AS given(stream, since, again)
JOIN score_block b ON b.stream_id = given.stream AND b.start >= given.since
WHERE b.start < %(until)s AND b.day BETWEEN %(first_day)s AND %(last_day)s
  AND (b.start >= given.again OR b.start < given.since + interval '7 days')
ORDER BY b.stream_id, b.start, b.stratum
"""

_NAMED = text(
    f"SELECT s.id, {_KEY} FROM score_stream s WHERE s.id = ANY(CAST(:streams AS int[]))"  # noqa: S608
)
_READ_PROGRESS = text("SELECT scanned_until, closed_until FROM score_block_cursor WHERE id = 1")
_CLOSE = text(
    """
UPDATE score_block_cursor SET closed_until = :closed_until
WHERE id = 1 AND closed_until IS DISTINCT FROM greatest(closed_until, :closed_until)
  AND NOT EXISTS (SELECT FROM dirty_mark WHERE until <= :closed_until AND until > coalesce(
    closed_until, CAST(:closed_until AS timestamptz) - interval '1 hour'))
"""
)
_OLDEST_DUE = text(
    """
SELECT min(greatest(marked_at, until + CAST(:grace AS interval))) FROM dirty_mark WHERE until <= :ended_by
"""
)


class KnownStream(NamedTuple):
    """A stream with its number, by which its blocks are read."""

    number: int
    stream: ScoreStream
    first_seen_at: datetime


class BlockRows(NamedTuple):
    """Blocks in columns, ordered by stream, block and stratum.

    Attributes:
        streams: their numbers.
        blocks: five minutes since the epoch.
        strata: their names.
        n, totals, squares, failed: as in `ScoreBlock`.
        bins, counts: of each row's histogram what is not 0, by bin.
    """

    streams: list[int]
    blocks: list[int]
    strata: list[str]
    n: list[int]
    totals: list[float]
    squares: list[float]
    failed: list[int]
    bins: list[list[int]]
    counts: list[list[int]]


class Stretch(NamedTuple):
    """Of a stream the blocks from `since` on, but of those between 7 days later and `again` none."""

    since: datetime
    again: datetime


class Progress(NamedTuple):
    """How far the counting has come.

    Attributes:
        scanned_until: what changed before this is marked or counted.
        closed_until: blocks that ended by then are closed, and their counts are those of what was marked
            until they were; None before the first.
    """

    scanned_until: datetime
    closed_until: datetime | None


def list_streams(
    engine: Engine, *, active_since: datetime, app: str | None = None
) -> tuple[KnownStream, ...]:
    """The streams with a score in a block that begins then or later.

    Args:
        engine: of this process.
        active_since: aware.
        app: only its streams; '' is the unknown one, None all.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"app": app, "since": active_since, "first_day": active_since.date()}
    with translating_losses(), engine.connect() as connection:
        return tuple(
            KnownStream(
                row["id"],
                ScoreStream(**{name: row[name] for name in STREAM_KEY}),
                to_utc(row["first_seen_at"]),
            )
            for row in connection.execute(_LIST, columns).mappings()
        )


def read_blocks(engine: Engine, streams: Collection[int], *, since: datetime, until: datetime) -> BlockRows:
    """The blocks of streams that begin in a stretch of time; those of which nothing is known have no row.

    Args:
        engine: of this process.
        streams: their numbers.
        since: of the first block.
        until: the first block that is not wanted.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "streams": list(streams),
        "since": since,
        "until": until,
        "first_day": since.date(),
        "last_day": until.date(),
    }
    with pipelined_transaction(engine) as connection:
        rows = connection.cursor(binary=True).execute(READ, columns).fetchall()
    return BlockRows(*([list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(9)]))


def read_stretches(connection: Connection, stretches: Mapping[int, Stretch], *, until: datetime) -> BlockRows:
    """The blocks of streams, each from its own time on, in a transaction of the caller's.

    Args:
        connection: in a transaction.
        stretches: by the number of the stream.
        until: the first block that is not wanted.
    """
    if not stretches:
        return BlockRows(*([] for _ in range(9)))
    columns = {
        "streams": list(stretches),
        "since": [one.since for one in stretches.values()],
        "again": [one.again for one in stretches.values()],
        "until": until,
        "first_day": min(one.since for one in stretches.values()).date(),
        "last_day": until.date(),
    }
    driver = cast("psycopg.Connection[TupleRow]", connection.connection.driver_connection)
    rows = driver.cursor(binary=True).execute(READ_FROM, columns).fetchall()
    return BlockRows(*([list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(9)]))


def name_streams(connection: Connection, streams: Collection[int]) -> dict[int, ScoreStream]:
    """Streams by their numbers."""
    rows = connection.execute(_NAMED, {"streams": list(streams)}).all()
    return {number: _name(*key) for number, *key in rows}


@lru_cache(maxsize=20_000)
def _name(*key: str | int) -> ScoreStream:
    """Once for every stream: to validate names costs more than to judge a block of theirs."""
    return ScoreStream.model_validate(dict(zip(STREAM_KEY, key, strict=True)))


def build_blocks(rows: BlockRows, streams: Mapping[int, ScoreStream]) -> tuple[ScoreBlock, ...]:
    """The rows as values, each with its whole histogram.

    Args:
        rows: as `read_blocks` gives them.
        streams: by number.
    """
    return tuple(
        ScoreBlock(
            stream=streams[number],
            start=block_at(block),
            stratum=stratum,
            n=n,
            total=total,
            squares=squares,
            histogram=_spread(dict(zip(bins, counts, strict=True))),
            failed=failed,
        )
        for number, block, stratum, n, total, squares, failed, bins, counts in zip(*rows, strict=True)
    )


def read_progress(engine: Engine) -> Progress | None:
    """How far the counting has come; None where it never began.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        row = connection.execute(_READ_PROGRESS).first()
    return None if row is None else Progress(to_utc(row[0]), None if row[1] is None else to_utc(row[1]))


def close_blocks(engine: Engine, *, closed_until: datetime) -> bool:
    """True where more blocks are closed than before; none are while one of the new ones waits to be counted.

    What is closed may wait to be counted anew, as something late came, and stays closed.

    Raises:
        DatabaseLostError: they may be closed or not; call again.
    """
    with translating_losses(), engine.begin() as connection:
        return connection.execute(_CLOSE, {"closed_until": closed_until}).rowcount == 1


def find_oldest_due(engine: Engine, *, ended_by: datetime, grace: timedelta) -> datetime | None:
    """Since when the dirty block that has waited longest could have been counted; None: none waits.

    Args:
        engine: of this process.
        ended_by: blocks that end later are not due.
        grace: of closing.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        found = connection.execute(_OLDEST_DUE, {"ended_by": ended_by, "grace": grace}).scalar_one()
    return None if found is None else to_utc(found)


def _spread(counts: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(counts.get(one, 0) for one in range(BINS))
