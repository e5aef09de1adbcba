"""Messages that could not be worked on: `ports.ParkingStore` in Postgres, and how people find them again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import func, select, union

from ragsonde.decoding.body_names import read_names
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.jsonb import clean_text
from ragsonde.storage.parked_erasure import empty_envelope, names_forgotten
from ragsonde.storage.parked_names import list_noted, name_noted
from ragsonde.storage.replaying import insert_or_reopen
from ragsonde.storage.retries import Retries
from ragsonde.storage.tables import ParkedMessageRow
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.history import ERASED, ParkedMessage
from ragsonde_schemas.newer_words import read_word

if TYPE_CHECKING:
    from datetime import datetime

    import psycopg
    from psycopg.rows import TupleRow
    from sqlalchemy import ColumnElement, Connection, Engine, Select

    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

_MOST_SHOWN = 50
_COUNTS = (
    select(ParkedMessageRow.reason, func.count())
    .group_by(ParkedMessageRow.reason)
    .order_by(func.count().desc(), ParkedMessageRow.reason)
)


class PostgresParkingStore:
    """Keeps parked messages in Postgres; safe to use from any number of threads and processes."""

    def __init__(self, engine: Engine, *, clock: Clock, retries: Retries | None = None) -> None:
        self._engine = engine
        self._clock = clock
        self._retries = retries or Retries()

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str, where: str) -> bool:
        """Stores a message with the reason; False when it waits here for that reason already.

        One that was replayed and failed for the same reason again waits again: that is True. What somebody
        dropped stays dropped.

        Of one that names what was erased, only that it came is kept, and it does not wait.

        Raises:
            DatabaseLostError: it is parked or not; call again.
        """
        parked_at = self._clock.now()

        def attempt() -> bool:
            with translating_losses(), self._engine.begin() as connection:
                driver = cast("psycopg.Connection[TupleRow]", connection.connection.driver_connection)
                is_erased = names_forgotten(driver, envelope)
                if is_erased:
                    kept, told, place = empty_envelope(envelope), ERASED, "body"
                else:
                    kept, told, place = envelope, message, where
                columns = _list_columns(kept, parked_at=parked_at)
                # nobody can do anything about it
                columns["dropped_at"] = parked_at if is_erased else None
                why = {"reason": reason.value, "message": clean_text(told), "place": clean_text(place)}
                statement = insert_or_reopen({**columns, **why})
                return connection.execute(statement).scalar_one_or_none() is not None

        is_new = self._retries.insist(attempt)
        if is_new:
            fields = {"reason": reason.value, "queue": envelope.queue, "message_key": envelope.message_key}
            logger.warning("message_parked", extra=fields)
        return is_new


def count_parked(engine: Engine, *, since: datetime) -> dict[ParkReason, int]:
    """How many messages that were parked since then wait for somebody, by reason, the commonest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return count_waiting(connection, since=since)


def count_parked_between(engine: Engine, *, since: datetime, until: datetime) -> dict[ParkReason, int]:
    """How many messages were parked in a time, by reason, the commonest first, whatever became of them.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = _COUNTS.where(ParkedMessageRow.parked_at >= since, ParkedMessageRow.parked_at < until)
    with translating_losses(), engine.connect() as connection:
        return _read_counts(connection, query)


def count_waiting(connection: Connection, *, since: datetime | None = None) -> dict[ParkReason, int]:
    """As `count_parked`, in a transaction: what nobody has replayed or dropped.

    Args:
        connection: of the transaction.
        since: None: whenever it was parked.
    """
    row = ParkedMessageRow
    query = _COUNTS.where(row.replayed_at.is_(None), row.dropped_at.is_(None))
    return _read_counts(connection, query if since is None else query.where(row.parked_at >= since))


def _read_counts(connection: Connection, query: Select[str, int]) -> dict[ParkReason, int]:
    return {read_word(ParkReason, reason): count for reason, count in connection.execute(query)}


def find_parked(engine: Engine, *, trace_id: str, limit: int = _MOST_SHOWN) -> tuple[ParkedMessage, ...]:
    """The parked messages that name a trace, newest first.

    Looked for are the ids of messages, and what was noted of their bodies when they were parked: values under
    keys that say so, and ids of OTLP. What could not be read then, and what lies beyond the kept part of an
    oversize body, is not found.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = ParkedMessageRow.__table__.c
    query = (
        select(*list_parked_columns())
        .where(name_trace(trace_id))
        .order_by(columns.parked_at.desc(), columns.id.desc())
        .limit(limit)
    )
    with translating_losses(), engine.connect() as connection:
        return tuple(rebuild_parked(dict(row)) for row in connection.execute(query).mappings())


def name_trace(trace_id: str) -> ColumnElement[bool]:
    """The condition that a parked message names a trace; each part of it has an index."""
    row = ParkedMessageRow
    conditions = [
        row.message_id == trace_id,
        row.message_key == trace_id,
        *(row.names.contains(noted) for noted in name_noted(trace_id)),
    ]
    return row.id.in_(union(*(select(row.id).where(condition) for condition in conditions)))


def read_envelope(engine: Engine, *, parked_id: int) -> Envelope | None:
    """A parked message as it was delivered, to be worked on again; None when there is no such message.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    table = ParkedMessageRow.__table__
    with translating_losses(), engine.connect() as connection:
        row = connection.execute(select(table).where(table.c.id == parked_id)).mappings().one_or_none()
    if row is None:
        return None
    columns: dict[str, Any] = {
        name: row[name] for name in Envelope.model_fields if name in row and name != "names"
    }
    return Envelope(**columns)


def _list_columns(envelope: Envelope, *, parked_at: datetime) -> dict[str, Any]:
    return {
        "message_key": clean_text(envelope.message_key),
        "queue": envelope.queue,
        "message_id": clean_text(envelope.message_id),
        "content_type": clean_text(envelope.content_type),
        "content_encoding": clean_text(envelope.content_encoding),
        "headers": {clean_text(name): clean_text(value) for name, value in envelope.headers.items()},
        "published_at": envelope.published_at,
        "received_at": envelope.received_at,
        "parked_at": parked_at,
        "body": envelope.body,
        "body_bytes": envelope.body_bytes,
        "names": list_noted(
            envelope.names, body=read_names(envelope.body, encoding=envelope.content_encoding)
        ),
    }


def list_parked_columns() -> list[ColumnElement[Any]]:
    """What `rebuild_parked` needs of a row."""
    columns = ParkedMessageRow.__table__.c
    return [
        *(columns[name] for name in ("id", "message_key", "reason", "message", "queue", "message_id")),
        *(columns[name] for name in ("content_type", "received_at", "parked_at", "body_bytes")),
        *(columns[name] for name in ("replays", "replayed_at", "dropped_at")),
        columns.place.label("where"),
        func.length(columns.body).label("kept_bytes"),
    ]


def rebuild_parked(row: dict[str, Any]) -> ParkedMessage:
    """A parked message from the columns of `list_parked_columns`."""
    times = ("received_at", "parked_at", "replayed_at", "dropped_at")
    read = {"reason": read_word(ParkReason, row["reason"])}
    return ParkedMessage(**{**row, **read, **{name: row[name] and to_utc(row[name]) for name in times}})
