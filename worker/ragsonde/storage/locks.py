"""Advisory locks: one monitor does a job at a time, and long readings give way to a migration."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde_schemas.errors import GivenUpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

_JOB_SPACE = 1_380_011_844
"""First half of the key of every job's lock; locks of records use the other, one-number key space."""

MIGRATION_LOCK = 6_471_382_205_113_092_719
"""Held by a migration for itself alone, and shared by readings that keep tables locked for long."""

_SHARE = "SELECT pg_try_advisory_xact_lock_shared(:key)"
_IS_WANTED = """
SELECT EXISTS (SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted
      AND classid::bigint = :key >> 32 AND objid::bigint = :key & 4294967295
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


class GaveWayError(GivenUpError):
    """A migration has the tables, or waits for them: what only reads is to be asked again after it."""

    def __init__(self) -> None:
        super().__init__("`ragsonde migrate` is at the tables: this gave way; ask again when it has ended")


def give_way_to_migrations(connection: Connection) -> None:
    """Keeps migrations waiting from now to the end of the transaction; called again, looks whether one does.

    Raises:
        GaveWayError: one is under way or waits; the transaction must end.
    """
    is_shared = connection.execute(text(_SHARE), {"key": MIGRATION_LOCK}).scalar_one()
    if not is_shared or connection.execute(text(_IS_WANTED), {"key": MIGRATION_LOCK}).scalar_one():
        raise GaveWayError


@contextmanager
def try_job_lock(engine: Engine, name: str) -> Iterator[bool]:
    """True inside the block when this process has the job to itself, False when another one is at it.

    The lock belongs to a transaction that stays open and does nothing: so it works behind pgbouncer too,
    holds back no vacuum, and is gone with the connection should this process die.

    Raises:
        DatabaseLostError: Postgres went away, before or during the block.
    """
    with translating_losses(), engine.connect() as connection, connection.begin():
        is_ours = connection.execute(
            text("SELECT pg_try_advisory_xact_lock(:space, :job)"),
            {"space": _JOB_SPACE, "job": hash_job(name)},
        ).scalar_one()
        # second, as it also lets go of the snapshot that the portal of a statement with parameters keeps
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        yield bool(is_ours)


def hold_job_lock(connection: Connection, name: str) -> None:
    """Waits for the lock of a job; it is let go with the connection's transaction."""
    connection.execute(
        text("SELECT pg_advisory_xact_lock(:space, :job)"), {"space": _JOB_SPACE, "job": hash_job(name)}
    )


def share_job_lock(connection: Connection, name: str) -> None:
    """Waits until nobody holds the lock of a job alone; many may share it, each to its transaction's end."""
    connection.execute(
        text("SELECT pg_advisory_xact_lock_shared(:space, :job)"),
        {"space": _JOB_SPACE, "job": hash_job(name)},
    )


def write_job_try(name: str) -> tuple[str, dict[str, int]]:
    """The statement that takes it if nobody has it, for the driver's connection; it tells whether it did."""
    return "SELECT pg_try_advisory_xact_lock(%(space)s, %(job)s)", {
        "space": _JOB_SPACE,
        "job": hash_job(name),
    }


def hash_job(name: str) -> int:
    """A 32-bit name of a job."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big", signed=True)
