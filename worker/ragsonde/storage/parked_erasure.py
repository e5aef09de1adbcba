"""Messages of what is erased, in the parking or about to be parked: found by whom their bodies name."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.decoding.body_names import read_names
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.parked_names import DIGESTED, digest_ids
from ragsonde.storage.tombstones import (
    HOLD_OFF,
    Named,
    is_ahead,
    list_names,
    read_forgotten,
    select_forgotten,
)
from ragsonde_schemas.body_names import BodyNames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.erasure_choice import ErasureChoice
    from ragsonde_schemas.envelope import Envelope

_PAGE_ROWS = 50
"""A body has up to some MiB."""

_SELECT = """
SELECT id, message_key, message_id, body, content_encoding, names FROM parked_message
WHERE id > %(after)s AND (%(before)s::date IS NULL OR coalesce(published_at, received_at) < %(before)s::date)
ORDER BY id LIMIT %(limit)s
"""
_HAS_TOMBSTONES = "SELECT EXISTS (SELECT FROM tombstone)"
_DELETE = "DELETE FROM parked_message WHERE id = ANY(%(ids)s::bigint[]) RETURNING message_key"
_DELETE_SUSPECTS = "DELETE FROM suspect WHERE message_key = ANY(%(keys)s::text[]) RETURNING message_key"


def names_forgotten(connection: Connection[TupleRow], envelope: Envelope) -> bool:
    """True when a message that is to be parked names somebody, or a trace, that was erased.

    Args:
        connection: in the transaction that parks it.
        envelope: what is to be parked.
    """
    connection.execute(HOLD_OFF)
    row = connection.execute(_HAS_TOMBSTONES).fetchone()
    if row is None or not row[0]:
        return False
    found = read_names(envelope.body, encoding=envelope.content_encoding)
    given = envelope.names or BodyNames()
    values = [
        *((Named.TRACE, value) for value in sorted(found.strings | found.traces | given.traces)),
        *((Named.USER, value) for value in sorted(found.users | given.users)),
        *((Named.SESSION, value) for value in sorted(found.sessions | given.sessions)),
    ]
    apps = sorted(found.apps | given.apps)
    names = [name for app in (None, *apps) for name in list_names(values, app=app)]
    received_at = envelope.received_at
    published_at = envelope.published_at or received_at
    asked = select_forgotten(
        connection,
        names,
        occurred_at=min(published_at, received_at),
        is_guessed=envelope.published_at is None or is_ahead(published_at, now=received_at),
    )
    return bool(read_forgotten(asked))


def empty_envelope(envelope: Envelope) -> Envelope:
    """What may be kept of such a message: that there was one, and of which size."""
    key = hashlib.sha256(envelope.message_key.encode(errors="replace")).hexdigest()
    changes: dict[str, Any] = {
        "body": b"",
        "headers": {},
        "message_id": None,
        "message_key": key,
        "names": None,
    }
    return envelope.model_copy(update=changes)


def find_parked_of(
    engine: Engine, choice: ErasureChoice, *, trace_ids: AbstractSet[str]
) -> Iterator[tuple[int, ...]]:
    """Numbers of the parked messages that are meant, a page after the other.

    Args:
        engine: of this process.
        choice: what is to be erased.
        trace_ids: of traces that are meant: a message that names one is meant too.

    Raises:
        DatabaseLostError: Postgres is away; call again.
    """
    columns: dict[str, Any] = {"after": 0, "before": choice.before, "limit": _PAGE_ROWS}
    while True:
        with pipelined_transaction(engine) as connection:
            rows = connection.execute(_SELECT, columns).fetchall()
        if not rows:
            return
        yield tuple(
            parked_id
            for parked_id, key, message_id, body, encoding, names in rows
            if _is_meant(choice, trace_ids, (key, message_id), _list_named(body, encoding, names))
        )
        columns["after"] = rows[-1][0]


def delete_parked(engine: Engine, ids: tuple[int, ...]) -> dict[str, int]:
    """How many rows were deleted, by table.

    Raises:
        DatabaseLostError: they may be deleted or not; call again.
    """
    with pipelined_transaction(engine) as connection:
        keys = [key for (key,) in connection.execute(_DELETE, {"ids": list(ids)}).fetchall()]
        suspects = connection.execute(_DELETE_SUSPECTS, {"keys": keys}).fetchall()
    return {"parked_message": len(keys), "suspect": len(suspects)}


class _Named(NamedTuple):
    """Whom a parked message names: as its body tells, and as was noted when it came."""

    body: BodyNames
    noted: dict[str, Any]

    def names_any(self, kind: str, values: AbstractSet[str]) -> bool:
        """True when the message names one of them.

        Args:
            kind: a field of `BodyNames`.
            values: as they are stored elsewhere.
        """
        said: frozenset[str] = getattr(self.body, kind)
        if kind == "traces":
            said |= self.body.strings
        noted = digest_ids(values) if kind in DIGESTED else values
        return not said.isdisjoint(values) or not noted.isdisjoint(self.noted.get(kind, ()))


def _list_named(body: bytes, encoding: str | None, noted: dict[str, Any] | None) -> _Named:
    return _Named(read_names(body, encoding=encoding), noted or {})


def _is_meant(
    choice: ErasureChoice, trace_ids: AbstractSet[str], keys: tuple[str | None, ...], named: _Named
) -> bool:
    if choice.app is not None and not named.names_any("apps", {choice.app}):
        return False
    if choice.trace is None and not choice.names_persons:
        return True
    if named.names_any("traces", trace_ids) or not trace_ids.isdisjoint(keys):
        return True
    is_user = choice.user is None or named.names_any("users", set(choice.users))
    is_session = choice.session is None or named.names_any("sessions", set(choice.sessions))
    return choice.names_persons and choice.trace is None and is_user and is_session
