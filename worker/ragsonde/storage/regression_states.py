"""What is remembered of each stream: its state after the last block of each day that it was judged by."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import text

from ragsonde.regression.alert_state import Level, StreamState
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.storage.jsonb import encode_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy import Connection, Row

    from ragsonde.storage.block_changes import StreamChange

_EPOCH = date(1970, 1, 1).toordinal()
JUDGING_LOCK = "regression_states"
"""The job whose lock holds who writes states, baselines and the ends of alerts."""
_COLUMNS = "stream_id, day, block, begun, part, baseline_id, log_bets, log_recovery, level, opened, hold"
_READ = text(
    f"""
SELECT {_COLUMNS} FROM monitor_state WHERE stream_id = ANY(CAST(:streams AS int[])) ORDER BY stream_id, day
"""  # noqa: S608  # constants
)
_READ_RESUMABLE = text(
    f"""
SELECT {_COLUMNS} FROM unnest(CAST(:streams AS int[]), CAST(:earliest AS int[]), CAST(:recent AS int[]))
    AS given(stream, earliest, recent)
CROSS JOIN LATERAL (
    (SELECT * FROM monitor_state WHERE stream_id = given.stream ORDER BY day DESC LIMIT 1)
    UNION (SELECT * FROM monitor_state WHERE stream_id = given.stream AND block < given.earliest
        ORDER BY day DESC LIMIT 1)
    UNION (SELECT * FROM monitor_state WHERE stream_id = given.stream AND block < given.recent
        ORDER BY day DESC LIMIT 1)) AS found
ORDER BY stream_id, day
"""  # noqa: S608  # constants
)
_FORGET_FROM = text(
    """
DELETE FROM monitor_state s USING unnest(CAST(:streams AS int[]), CAST(:days AS date[])) AS given(stream, day)
WHERE s.stream_id = given.stream AND s.day >= given.day
"""
)
_WRITE = text(
    f"""
INSERT INTO monitor_state ({_COLUMNS})
SELECT {_COLUMNS} FROM json_to_recordset(CAST(:rows AS json)) AS r(
    stream_id int, day date, block int, begun int, part smallint, baseline_id int, log_bets float8[],
    log_recovery float8[], level text, opened int, hold text)
"""  # noqa: S608  # constants
)
_TIDY = text(
    """
DELETE FROM monitor_state s WHERE s.day < :oldest
  AND EXISTS (SELECT FROM monitor_state later
    WHERE later.stream_id = s.stream_id AND later.day > s.day AND later.day <= :oldest)
"""
)
_COUNT_ACTIVE = text(
    """
SELECT count(*) FROM score_stream s WHERE EXISTS (SELECT FROM score_block b
    WHERE b.stream_id = s.id AND b.day >= :first AND b.day < :day AND b.n > 0)
"""
)
_FIRST_BLOCKS = text(
    """
SELECT stream_id, (extract(epoch FROM min(start)) / 300)::int FROM score_block
WHERE stream_id = ANY(CAST(:streams AS int[])) AND n > 0 GROUP BY stream_id
"""
)


class StoredState(NamedTuple):
    """The state of a stream after a block.

    Attributes:
        begun: the first block of the stream.
        part: day of its first week, from 0; 7 afterwards.
        baseline: the number of the one it is judged by; None while it cannot be judged.
        hold: why the block brought no evidence; None where it did.
    """

    stream: int
    block: int
    begun: int
    part: int
    baseline: int | None
    state: StreamState
    hold: str | None = None

    @property
    def day(self) -> date:
        """Of the block."""
        return find_day(self.block)


def find_day(block: int) -> date:
    """The day, in UTC, that a block begins on."""
    return date.fromordinal(_EPOCH + block // BLOCKS_PER_DAY)


def read_states(connection: Connection, streams: Collection[int]) -> dict[int, tuple[StoredState, ...]]:
    """What is remembered of streams, by stream, the newest state last; nothing of those never judged."""
    return _gather(connection.execute(_READ, {"streams": list(streams)}).all())


def read_resumable(
    connection: Connection, changes: Collection[StreamChange]
) -> dict[int, tuple[StoredState, ...]]:
    """As `read_states`, but only the newest state and the newest ones before what changed."""
    columns = {
        "streams": [change.stream for change in changes],
        "earliest": [change.earliest for change in changes],
        "recent": [change.recent for change in changes],
    }
    return _gather(connection.execute(_READ_RESUMABLE, columns).all())


def _gather(rows: Iterable[Row[Any]]) -> dict[int, tuple[StoredState, ...]]:
    found: dict[int, list[StoredState]] = {}
    for row in rows:
        state = StreamState(
            log_bets=np.array(row.log_bets, dtype=np.float64),
            log_recovery=np.array(row.log_recovery, dtype=np.float64),
            level=Level(row.level),
            opened=row.opened,
        )
        one = StoredState(
            stream=row.stream_id,
            block=row.block,
            begun=row.begun,
            part=row.part,
            baseline=row.baseline_id,
            state=state,
            hold=row.hold,
        )
        found.setdefault(one.stream, []).append(one)
    return {stream: tuple(states) for stream, states in found.items()}


def write_states(connection: Connection, states: Collection[StoredState]) -> None:
    """Puts them in the place of all that is remembered of their streams from the first of their days on."""
    first: dict[int, date] = {}
    for one in states:
        first[one.stream] = min(one.day, first.get(one.stream, one.day))
    forget_states(connection, first)
    if states:
        connection.execute(_WRITE, {"rows": encode_json([_describe(one) for one in states])})


def forget_states(connection: Connection, first_days: dict[int, date]) -> None:
    """Forgets what is remembered of streams from a day on, given by stream."""
    columns = {"streams": list(first_days), "days": list(first_days.values())}
    connection.execute(_FORGET_FROM, columns)


def tidy_states(connection: Connection, *, oldest: date) -> None:
    """Forgets states of earlier days that no replay begins with: all but the newest by that day."""
    connection.execute(_TIDY, {"oldest": oldest})


def count_active_streams(connection: Connection, day: date, *, days: int) -> int:
    """How many streams have traces in so many days before a day."""
    first = date.fromordinal(day.toordinal() - days)
    return int(connection.execute(_COUNT_ACTIVE, {"day": day, "first": first}).scalar_one())


def find_first_blocks(connection: Connection, streams: Collection[int]) -> dict[int, int]:
    """The first block of each stream that has a score, by stream."""
    return {row[0]: row[1] for row in connection.execute(_FIRST_BLOCKS, {"streams": list(streams)})}


def _describe(one: StoredState) -> dict[str, Any]:
    return {
        "stream_id": one.stream,
        "day": one.day,
        "block": one.block,
        "begun": one.begun,
        "part": one.part,
        "baseline_id": one.baseline,
        "log_bets": one.state.log_bets.tolist(),
        "log_recovery": one.state.log_recovery.tolist(),
        "level": one.state.level.value,
        "opened": one.state.opened,
        "hold": one.hold,
    }
