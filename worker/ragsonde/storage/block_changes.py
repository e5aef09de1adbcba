"""Which counts are other than before: noted with the counts, taken by who judges their streams anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.baselines import number_block
from ragsonde.storage.unshown_streams import find_tried

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

_NOTE = text(
    "INSERT INTO block_change (stream_id, start) "
    "SELECT unnest(CAST(:streams AS int[])), CAST(:start AS timestamptz)"
)
_LIST = text("SELECT stream_id, min(start) FROM block_change WHERE start < :until GROUP BY 1 ORDER BY 1")
_TAKE = text(
    """
WITH taken AS (
    DELETE FROM block_change WHERE stream_id = ANY(CAST(:streams AS int[])) AND start < :until
    RETURNING stream_id, start)
SELECT stream_id, min(start) AS earliest, min(start) FILTER (WHERE start >= :recent) AS recent
FROM taken GROUP BY stream_id ORDER BY stream_id
"""
)


class StreamChange(NamedTuple):
    """What changed of a stream.

    Attributes:
        earliest: the first block whose counts have changed.
        recent: the first one of them that is not older than was asked for; None where all are.
    """

    stream: int
    earliest: int
    recent: int | None


def note_change(connection: Connection, start: datetime, *, streams: Collection[int]) -> None:
    """Notes it in the transaction that counts the block; nothing where no stream has changed."""
    if streams:
        connection.execute(_NOTE, {"start": start, "streams": sorted(streams)})


def list_changed(connection: Connection, *, until: datetime) -> dict[int, int]:
    """The first block that changed of each stream, of those that begin before then.

    Not of a version that was only tried: it is judged, from that block on, once its scores are shown.
    """
    changed = {stream: number_block(start) for stream, start in connection.execute(_LIST, {"until": until})}
    tried = find_tried(connection, changed, until=until)
    return {stream: block for stream, block in changed.items() if stream not in tried}


def take_changes(
    connection: Connection, streams: Collection[int], *, until: datetime, recent: datetime
) -> tuple[StreamChange, ...]:
    """What changed of these streams before `until`; it is gone when the caller's transaction commits.

    Counts that are read after this call are at least as new as what it returns.
    """
    columns = {"streams": list(streams), "until": until, "recent": recent}
    return tuple(
        StreamChange(stream, number_block(earliest), None if found is None else number_block(found))
        for stream, earliest, found in connection.execute(_TAKE, columns).all()
    )
