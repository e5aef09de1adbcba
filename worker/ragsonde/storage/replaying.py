"""What people do with parked messages: take one in hand to publish it again, or drop it.

A message is locked while it is published, and marked in the same transaction: of two who replay at once one
finds it taken. Should the process die in between, it is published and not marked, so that it may be published
again: that is a duplicate by content, and counted as one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.reopening import Reopening, reopen_evaluation_within, reopen_spans_within
from ragsonde.storage.tables import ParkedMessageRow
from ragsonde_schemas.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine
    from sqlalchemy.sql.dml import ReturningInsert

    from ragsonde_schemas.evaluation import EvaluationKey

_TAKE = """
SELECT message_key, queue, message_id, content_type, content_encoding, headers, published_at, received_at,
    body, body_bytes
FROM parked_message
WHERE id = %(id)s AND (%(takes_all)s OR replayed_at IS NULL AND dropped_at IS NULL)
FOR UPDATE SKIP LOCKED
"""
_MARK = """
UPDATE parked_message SET replays = replays + 1, replayed_at = %(now)s, dropped_at = NULL WHERE id = %(id)s
"""
_FORGET_STARTS = "DELETE FROM suspect WHERE message_key = %(message_key)s"
_DROP = """
UPDATE parked_message SET dropped_at = %(now)s
WHERE id = ANY(%(ids)s::bigint[]) AND dropped_at IS NULL
RETURNING id
"""
_RENEWED = ("place", "message", "queue", "headers", "parked_at", "body", "body_bytes", "names", "dropped_at")


class MessageInHand(NamedTuple):
    """A parked message that nobody else can replay before the block ends."""

    id: int
    envelope: Envelope
    connection: Connection[TupleRow]

    def mark_replayed(self, *, now: datetime) -> None:
        """Marks it, once the block ends well; starts that were counted for it begin anew."""
        columns = {"id": self.id, "message_key": self.envelope.message_key, "now": now}
        self.connection.execute(_MARK, columns)
        self.connection.execute(_FORGET_STARTS, columns)

    def reopen_evaluation(self, key: EvaluationKey, *, now: datetime, queued_seconds: int) -> Reopening:
        """What became of the failed evaluation that it names, in the same transaction."""
        return reopen_evaluation_within(self.connection, key, now=now, queued_seconds=queued_seconds)

    def reopen_spans(self, trace_id: str, *, now: datetime, queued_seconds: int) -> Reopening:
        """What became of the gathered trace that it names, in the same transaction."""
        return reopen_spans_within(self.connection, trace_id, now=now, queued_seconds=queued_seconds)


@contextmanager
def holding_parked(engine: Engine, parked_id: int, *, takes_all: bool) -> Iterator[MessageInHand | None]:
    """A parked message, locked for the block; an exception inside undoes what was written.

    Args:
        engine: of this process.
        parked_id: its number.
        takes_all: also one that was replayed or dropped; else that is None, as is one in other hands.

    Raises:
        DatabaseLostError: it is marked or not.
    """
    with pipelined_transaction(engine) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        row = cursor.execute(_TAKE, {"id": parked_id, "takes_all": takes_all}).fetchone()
        yield None if row is None else MessageInHand(parked_id, Envelope(**row), connection)


def drop_parked(engine: Engine, ids: Sequence[int], *, now: datetime) -> int:
    """How many were dropped: they are shown no more, and go with the retention of parked messages.

    Raises:
        DatabaseLostError: they may be dropped or not; call again.
    """
    with pipelined_transaction(engine) as connection:
        return len(connection.execute(_DROP, {"ids": list(ids), "now": now}).fetchall())


def insert_or_reopen(columns: Mapping[str, Any]) -> ReturningInsert[int]:
    """The statement that parks a message, or lets one wait again that had been replayed.

    Without a row: it waits already. What somebody dropped stays dropped; when it came first is kept.
    """
    insertion = insert(ParkedMessageRow).values(**columns)
    renewed = {name: insertion.excluded[name] for name in _RENEWED}
    return insertion.on_conflict_do_update(
        index_elements=["message_key", "reason"],
        set_={**renewed, "replayed_at": None},
        where=ParkedMessageRow.replayed_at.is_not(None) & ParkedMessageRow.dropped_at.is_(None),
    ).returning(ParkedMessageRow.id)
