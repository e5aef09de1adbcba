"""The keys of users' ids in Postgres: `ports.UserKeys`, and how people change them."""

from __future__ import annotations

import logging
import secrets
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import hold_job_lock
from ragsonde.storage.user_key_tables import UserKeyRow
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.user_key import SECRET_BYTES, KeyRing, UserKey, make_user_key
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

REFRESH = timedelta(seconds=60)
"""So long what was read of the keys holds."""
NOTICE = timedelta(minutes=2)
"""From a key's birth by rotation to its first use: by then every process knows it."""
_LOCK = "user-keys"


class StoredUserKey(Value):
    """A key without its secret.

    Attributes:
        used_from: None where the settings give it.
        retired_at: since when its pseudonyms can only be told as such.
        has_secret: it is stored here.
    """

    id: str
    created_at: datetime
    used_from: datetime | None
    retired_at: datetime | None
    has_secret: bool


class PostgresUserKeys:
    """The keys that all processes of a deployment share; safe to use from any number of threads.

    Where the settings give keys, the first of them is used, and only ids are stored of them. Else the first
    process that needs one makes one.

    Args:
        engine: of this process.
        clock: whose times decide which key is used.
        given: secrets of the settings, the newest first.
    """

    def __init__(self, engine: Engine, *, clock: Clock, given: Sequence[bytes] = ()) -> None:
        self._engine = engine
        self._clock = clock
        self._given = tuple(make_user_key(secret) for secret in given)
        self._lock = threading.Lock()
        self._ring: KeyRing | None = None
        self._read_at: datetime | None = None

    def read(self) -> KeyRing:
        """The keys, at most a minute old; the first one is made where there is none.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        with self._lock:
            is_fresh = self._read_at is not None and timedelta() <= now - self._read_at < REFRESH
            if self._ring is None or not is_fresh:
                self._ring = read_key_ring(self._engine, now=now, given=self._given)
                self._read_at = now
            return self._ring

    def read_secret(self) -> bytes:
        """The secret of the key that is used now."""
        return self.read().active.secret


def read_key_ring(engine: Engine, *, now: datetime, given: Sequence[UserKey] = ()) -> KeyRing:
    """All keys of the deployment; the first one is made where there is none, by one process alone.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.begin() as connection:
        rows = _select(connection)
        missing = [key for key in given if all(row.id != key.id for row in rows)]
        if missing or not (given or _choose_active(rows, now=now)):
            hold_job_lock(connection, _LOCK)
            if given:
                _note_given(connection, given, now=now)
            elif not _choose_active(_select(connection), now=now):
                _add(connection, _make_key(), now=now, used_from=now)
            rows = _select(connection)
    stored = [UserKey(row.id, bytes(row.secret)) for row in rows if row.secret is not None]
    active = given[0] if given else _choose_active(rows, now=now)
    if active is None:
        raise RuntimeError("a key was just made and is not there")
    known = {key.id: key for key in (*given, *stored)}
    return KeyRing(
        active,
        tuple(key for key in known.values() if key.id != active.id),
        frozenset(row.id for row in rows if row.id not in known),
    )


def find_user_id_forms(
    engine: Engine, user_id: str, *, now: datetime, given: Sequence[bytes] = ()
) -> tuple[str, ...]:
    """All under which a user's id may be stored: its pseudonym under every key, and the id as it is.

    Args:
        engine: of the deployment's database.
        user_id: as the application knows it, or one of its pseudonyms, which stands for itself alone.
        now: the present.
        given: secrets of the settings.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    ring = read_key_ring(engine, now=now, given=[make_user_key(secret) for secret in given])
    return ring.list_forms(user_id)


def list_user_keys(engine: Engine) -> tuple[StoredUserKey, ...]:
    """The keys, the newest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return tuple(
            StoredUserKey(
                id=row.id,
                created_at=row.created_at,
                used_from=row.used_from,
                retired_at=row.retired_at,
                has_secret=row.secret is not None,
            )
            for row in reversed(_select(connection))
        )


def rotate_user_key(engine: Engine, *, now: datetime) -> StoredUserKey:
    """A new key, for what comes from two minutes after now on; those before it stay known.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    key, used_from = _make_key(), now + NOTICE
    with translating_losses(), engine.begin() as connection:
        hold_job_lock(connection, _LOCK)
        _add(connection, key, now=now, used_from=used_from)
    return StoredUserKey(id=key.id, created_at=now, used_from=used_from, retired_at=None, has_secret=True)


def check_retirable(engine: Engine, key_id: str, *, now: datetime) -> None:
    """Returns where a key may be retired.

    Raises:
        InputError: there is none, its secret is not here, or it is used now or soon.
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        _check_retirable(_select(connection), key_id, now=now)


def retire_user_key(engine: Engine, key_id: str, *, now: datetime) -> None:
    """Erases a key's secret: its pseudonyms stay what they are, and nobody can be found by them any more.

    Raises:
        InputError: as `check_retirable`.
        DatabaseLostError: Postgres is away.
    """
    row = UserKeyRow
    with translating_losses(), engine.begin() as connection:
        hold_job_lock(connection, _LOCK)
        _check_retirable(_select(connection), key_id, now=now)
        connection.execute(update(row).where(row.id == key_id).values(secret=None, retired_at=now))


def _check_retirable(rows: Sequence[UserKeyRow], key_id: str, *, now: datetime) -> None:
    found = next((row for row in rows if row.id == key_id), None)
    if found is None:
        known = ", ".join(row.id for row in rows) or "none"
        raise InputError(f"found no key {key_id}, expected one of: {known}")
    if found.secret is None:
        told = (
            "retired already" if found.retired_at else "given by user_key or user_key_file: remove it there"
        )
        raise InputError(f"the secret of key {key_id} is not stored here; it is {told}")
    active = _choose_active(rows, now=now)
    if active is not None and active.id == key_id:
        raise InputError(f"key {key_id} is the one that is used: rotate first, and retire it then")
    if found.used_from is not None and found.used_from > now:
        raise InputError(
            f"key {key_id} is to be used from {found.used_from:%H:%M:%S} UTC on: it is the newest"
        )


def _choose_active(rows: Sequence[UserKeyRow], *, now: datetime) -> UserKey | None:
    """The newest key that is stored here and whose time has come; before any has, the first."""
    usable = [(row.used_from, row.id, row.secret) for row in rows if row.secret and row.used_from]
    due = [one for one in usable if one[0] <= now]
    chosen = max(due, default=None) or min(usable, default=None)
    return None if chosen is None else UserKey(chosen[1], bytes(chosen[2]))


def _select(connection: Connection) -> list[UserKeyRow]:
    table = UserKeyRow.__table__
    rows = connection.execute(select(table).order_by(table.c.created_at, table.c.id)).mappings()
    return [UserKeyRow(**row) for row in rows]


def _add(connection: Connection, key: UserKey, *, now: datetime, used_from: datetime | None) -> None:
    secret = None if used_from is None else key.secret
    statement = insert(UserKeyRow).values(id=key.id, secret=secret, created_at=now, used_from=used_from)
    connection.execute(statement.on_conflict_do_nothing())
    logger.info("user_key_added", extra={"key_id": key.id})


def _note_given(connection: Connection, given: Sequence[UserKey], *, now: datetime) -> None:
    for key in given:
        _add(connection, key, now=now, used_from=None)


def _make_key() -> UserKey:
    return make_user_key(secrets.token_bytes(SECRET_BYTES))
