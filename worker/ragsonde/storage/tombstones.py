"""What keeps erased traces away: their names as digests, looked for by whatever would store a trace.

Who stores holds a shared lock from before he looks until he has committed. Who erases commits the tombstones
first and then waits for those who hold it: whoever looked too early has committed by then, and what he stored
is found and erased; whoever comes later sees the tombstone. Nobody who stores ever waits.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.engine import pipelined_transaction
from ragsonde_schemas.errors import DatabaseLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

_SPACE = 1_380_011_845
_STORING = 1
"""The two numbers of the lock; other locks have another first one, or only one number."""

HOLD_OFF = f"SELECT pg_advisory_xact_lock_shared({_SPACE}, {_STORING})"
"""First statement of a transaction that looks for tombstones and stores: a statement of its own, as the next
one must not see what was there before it."""

_HOLDERS = f"""
SELECT pid, virtualtransaction FROM pg_locks
WHERE locktype = 'advisory' AND classid = {_SPACE} AND objid = {_STORING} AND objsubid = 2 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""  # noqa: S608  # constants of this file

_DIGEST = "sha256(salt.salt || convert_to({name}, 'UTF8'))"

_FIND = f"""
SELECT given.name FROM unnest(%(names)s::text[]) AS given(name)
CROSS JOIN tombstone_salt salt
JOIN tombstone t ON t.digest = {_DIGEST.format(name="given.name")}
WHERE t.before IS NULL OR %(occurred_at)s < t.before
   OR %(is_guessed)s AND (t.kind = 'trace' OR %(occurred_at)s < t.before + interval '1 day')
"""  # noqa: S608  # constants of this file
"""Where the time is a guess it may be that of a message that waited: of a trace that was erased this is taken
for granted, of a user's or session's for a day."""

HAS_TRACE_TOMBSTONE = f"""EXISTS (
    SELECT FROM tombstone_salt salt
    JOIN tombstone t ON t.digest = {_DIGEST.format(name="%(trace_prefix)s || {trace_id}")}
    WHERE t.before IS NULL)"""
"""For a trace of any app, whenever it occurred; `{trace_id}` is the column."""

_SALT = """
INSERT INTO tombstone_salt (id, salt)
SELECT 1, sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8')) FROM generate_series(1, 4)
ON CONFLICT DO NOTHING
"""
"""Each UUID has 122 random bits of the server's strong generator."""

_WRITE = f"""
INSERT INTO tombstone (digest, kind, before, expires_at)
SELECT DISTINCT {_DIGEST.format(name="given.name")}, %(kind)s, %(before)s::timestamptz,
    %(expires_at)s::timestamptz
FROM unnest(%(names)s::text[]) AS given(name) CROSS JOIN tombstone_salt salt
ORDER BY 1
ON CONFLICT (digest) DO UPDATE SET
    before = CASE WHEN tombstone.before IS NULL OR excluded.before IS NULL THEN NULL
             ELSE greatest(tombstone.before, excluded.before) END,
    expires_at = greatest(tombstone.expires_at, excluded.expires_at)
"""  # noqa: S608  # constants of this file

_INHERIT = f"""
INSERT INTO tombstone (digest, kind, before, expires_at)
SELECT {_DIGEST.format(name="%(heir)s::text")}, 'trace', NULL, t.expires_at
FROM tombstone_salt salt JOIN tombstone t ON t.digest = {_DIGEST.format(name="%(name)s::text")}
ON CONFLICT (digest) DO UPDATE SET before = NULL,
    expires_at = greatest(tombstone.expires_at, excluded.expires_at)
"""  # noqa: S608  # constants of this file

_DROP_SPANS = "DELETE FROM span_buffer WHERE trace_id = %(trace_id)s"
_DROP_RECORD = "DELETE FROM open_record WHERE trace_id = %(trace_id)s"

_DROP_EXPIRED = """
DELETE FROM tombstone WHERE digest IN (
    SELECT digest FROM tombstone WHERE expires_at < %(now)s LIMIT %(limit)s)
RETURNING kind
"""

CLOCKS_DIFFER = timedelta(minutes=1)
_PAUSE_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 60.0
_ROWS_A_BATCH = 500


class Named(StrEnum):
    """What a tombstone may name."""

    TRACE = "trace"
    USER = "user"
    SESSION = "session"


class Tombstone(NamedTuple):
    """What is to be kept away.

    Attributes:
        names: of `write_name`, all of one kind.
        before: what occurred later is welcome; None = nothing is.
    """

    kind: Named
    names: Sequence[str]
    before: datetime | None
    expires_at: datetime


def write_name(kind: Named, value: str, *, app: str | None = None) -> str:
    """What a digest is made of; with an app the tombstone is for this app's traces only."""
    scope = "all" if app is None else f"app\x1f{app}"
    return f"{kind}\x1f{scope}\x1f{value}"


def list_names(values: Sequence[tuple[Named, str]], *, app: str | None) -> list[str]:
    """The names under which any of these may have been erased: for all apps, or for this one."""
    scopes = (None,) if app is None else (None, app)
    return [write_name(kind, value, app=scope) for kind, value in values for scope in scopes]


def select_forgotten(
    connection: Connection[TupleRow], names: Sequence[str], *, occurred_at: datetime, is_guessed: bool
) -> Cursor[TupleRow]:
    """Asks which of the names were erased; `read_forgotten` takes the answer.

    Args:
        connection: in a transaction that has executed `HOLD_OFF`.
        names: of `list_names`.
        occurred_at: of what bears them.
        is_guessed: nobody told when that was.
    """
    columns = {"names": list(names), "occurred_at": occurred_at, "is_guessed": is_guessed}
    return connection.execute(_FIND, columns)


def is_ahead(moment: datetime, *, now: datetime) -> bool:
    """True for a time that is still to come by more than clocks differ: whoever gave it has a wrong one."""
    return moment > now + CLOCKS_DIFFER


def read_forgotten(cursor: Cursor[TupleRow]) -> list[str]:
    """The names that were erased."""
    return [name for (name,) in cursor.fetchall()]


def refuse_trace(
    connection: Connection[TupleRow], trace_id: str, *, app: str, forgotten: Sequence[str]
) -> None:
    """Drops what was gathered of a trace that is not stored, and refuses what comes late and names nobody.

    What is stored of it already is left to `erasure.erase_within`.
    """
    connection.execute(_DROP_SPANS, {"trace_id": trace_id})
    connection.execute(_DROP_RECORD, {"trace_id": trace_id})
    for name in forgotten:
        if not name.startswith(f"{Named.TRACE}\x1f"):
            is_scoped = name.split("\x1f")[1] == "app"
            heir = write_name(Named.TRACE, trace_id, app=app if is_scoped else None)
            connection.execute(_INHERIT, {"heir": heir, "name": name})


def name_trace_column(column: str) -> tuple[str, dict[str, Any]]:
    """The condition that a column names an erased trace, and its bound parameters."""
    return HAS_TRACE_TOMBSTONE.format(trace_id=column), {"trace_prefix": write_name(Named.TRACE, "")}


def write_tombstones(engine: Engine, tombstones: Sequence[Tombstone]) -> None:
    """Commits tombstones; of one that is there already the wider holds.

    Raises:
        DatabaseLostError: none was written, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        connection.execute(_SALT)
        for one in tombstones:
            columns = {**one._asdict(), "names": list(one.names), "kind": one.kind.value}
            connection.execute(_WRITE, columns)


def await_storing(engine: Engine, *, wait: Callable[[float], None] = time.sleep) -> None:
    """Returns when all who were about to store before the call have ended; it keeps nobody waiting.

    Raises:
        DatabaseLostError: Postgres is away, or one of them has not ended for a minute.
    """
    left = _list_holders(engine)
    waited = 0.0
    while left:
        if waited >= _LONGEST_WAIT_SECONDS:
            pids = ", ".join(str(pid) for pid, _ in sorted(left))
            raise DatabaseLostError(
                f"the sessions {pids} of Postgres store a trace for more than {_LONGEST_WAIT_SECONDS:.0f} s: "
                "end them (pg_terminate_backend) and call again"
            )
        wait(_PAUSE_SECONDS)
        waited += _PAUSE_SECONDS
        left &= _list_holders(engine)


def drop_expired_tombstones(engine: Engine, *, now: datetime) -> int:
    """How many tombstones were dropped of what cannot come back any more.

    Raises:
        DatabaseLostError: Postgres is away; some may have been dropped.
    """
    dropped = 0
    while True:
        with pipelined_transaction(engine) as connection:
            rows = connection.execute(_DROP_EXPIRED, {"now": now, "limit": _ROWS_A_BATCH}).fetchall()
        dropped += len(rows)
        if len(rows) < _ROWS_A_BATCH:
            return dropped


def _list_holders(engine: Engine) -> set[tuple[int, str]]:
    with pipelined_transaction(engine) as connection:
        return {(pid, transaction) for pid, transaction in connection.execute(_HOLDERS).fetchall()}
