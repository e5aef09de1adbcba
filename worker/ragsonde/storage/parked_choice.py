"""Which parked messages are meant: by number, reason, time, queue, trace or app."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from ragsonde.decoding.body_names import read_names
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.parking_store import list_parked_columns, name_trace, rebuild_parked
from ragsonde.storage.tables import ParkedMessageRow
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Engine

    from ragsonde_schemas.history import ParkedMessage

_PAGE_ROWS = 50
"""Where bodies are read: each may have some MiB."""


class ParkedChoice(Value):
    """Which parked messages are meant; what is not given does not matter.

    Attributes:
        since, until: when it was parked.
        app: named in the body, as far as that can be read.
        takes_all: also those that were replayed or dropped.
    """

    ids: tuple[int, ...] = ()
    reasons: tuple[ParkReason, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    queue: str | None = None
    trace_id: str | None = None
    app: str | None = None
    takes_all: bool = False


def select_parked(
    engine: Engine, choice: ParkedChoice, *, limit: int | None = None, is_oldest_first: bool = False
) -> tuple[ParkedMessage, ...]:
    """The parked messages that are meant, the newest first.

    Args:
        engine: of this process.
        choice: which.
        limit: how many at most; None for all.
        is_oldest_first: in the order of their parking.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    found: list[ParkedMessage] = []
    with translating_losses(), engine.connect() as connection:
        for message in _read(connection, choice, limit=limit, is_oldest_first=is_oldest_first):
            found.append(message)
            if len(found) == limit:
                break
    return tuple(found)


def _read(
    connection: Connection, choice: ParkedChoice, *, limit: int | None, is_oldest_first: bool
) -> Iterator[ParkedMessage]:
    """A page after the other where bodies have to be looked into, else at once."""
    columns = ParkedMessageRow.__table__.c
    order = columns.id.asc() if is_oldest_first else columns.id.desc()
    shown = (
        list_parked_columns()
        if choice.app is None
        else [*list_parked_columns(), columns.body, columns.content_encoding]
    )
    query = select(*shown).order_by(order)
    conditions = _list_conditions(choice)
    if choice.app is None:
        for row in connection.execute(query.where(*conditions).limit(limit)).mappings():
            yield rebuild_parked(dict(row))
        return
    after: list[ColumnElement[bool]] = []
    while True:
        page = [
            dict(row)
            for row in connection.execute(query.where(*conditions, *after).limit(_PAGE_ROWS)).mappings()
        ]
        for found in page:
            body: bytes = found.pop("body")
            encoding: str | None = found.pop("content_encoding")
            if choice.app in read_names(body, encoding=encoding).apps:
                yield rebuild_parked(found)
        if len(page) < _PAGE_ROWS:
            return
        last: int = page[-1]["id"]
        after = [columns.id > last if is_oldest_first else columns.id < last]


def _list_conditions(choice: ParkedChoice) -> list[ColumnElement[bool]]:
    row = ParkedMessageRow
    wishes: tuple[tuple[Any, ColumnElement[bool]], ...] = (
        (choice.ids, row.id.in_(choice.ids)),
        (choice.reasons, row.reason.in_([reason.value for reason in choice.reasons])),
        (choice.queue, row.queue == choice.queue),
        (not choice.takes_all, and_(row.replayed_at.is_(None), row.dropped_at.is_(None))),
    )
    conditions = [condition for is_wished, condition in wishes if is_wished]
    if choice.since is not None:
        conditions.append(row.parked_at >= choice.since)
    if choice.until is not None:
        conditions.append(row.parked_at < choice.until)
    if choice.trace_id is not None:
        conditions.append(name_trace(choice.trace_id))
    return conditions
