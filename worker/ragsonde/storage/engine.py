"""The engine, and what counts as having lost the database."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

import psycopg
from psycopg.errors import PipelineAborted
from sqlalchemy import create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ragsonde_schemas.errors import ConfigError, DatabaseLostError, GivenUpError, LockedOutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg.rows import TupleRow
    from sqlalchemy import URL, Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

STATEMENT_TIMEOUT_SECONDS = 30
LOCK_TIMEOUT_SECONDS = 10
TAKE_TIME = "SET LOCAL statement_timeout = '600s'"
"""First in a transaction of a command that reads days of rows."""
"""Far below the other, so that the error tells a statement that is too slow from one that is kept waiting."""
POOL_RECYCLE_SECONDS = 1800
VANISHED_SECONDS = 60
"""After which a peer that confirms nothing is given up; the kernel itself tries for a quarter of an hour."""
SPARE_CONNECTIONS = 2
_USED_AT = "used_at"

_LOST_CLASSES = frozenset({"08", "53", "58"})
"""SQLSTATE classes: connection, resources (too many connections, disk full), input and output."""

_LOST_STATES = frozenset(
    {
        "25006",  # read-only transaction: a failover left us on a standby
        "25P03",  # idle in transaction for too long: the server closed the connection
        "57P01",  # shut down by the administrator, or the backend was terminated
        "57P02",  # crash of another backend
        "57P03",  # starting up or shutting down
        "57P05",  # idle session timeout
    }
)


_LOCKED_OUT = "55P03"
"""Somebody else, a migration for one, keeps what we write to: that is so for every message."""

_GIVEN_UP_STATES = frozenset(
    {
        "40001",  # serialization failure: nothing was done, the same again may work
        "40P01",  # deadlock: likewise
        "57014",  # statement timeout, or cancelled by the administrator
    }
)
"""Postgres is there and serves others: it is this statement that fails."""


def build_engine(
    url: str, *, application_name: str, pool_size: int = 8, trusted_seconds: float = 0.0
) -> Engine:
    """An engine for one process; it connects when first used, never before.

    Args:
        url: `postgresql://user@host:port/database`, also with a unix socket (`?host=/directory`).
        application_name: shown in `pg_stat_activity`.
        pool_size: connections kept; no more than two beyond it are ever open.
        trusted_seconds: a connection that was in use so recently is used again without a ping before. For who
            tries again when the database is lost: one that died since then is not replaced unseen.

    Raises:
        ConfigError: the URL is none, or not Postgres's.
    """
    engine = create_engine(
        read_url(url),
        pool_recycle=POOL_RECYCLE_SECONDS,
        pool_size=pool_size,
        max_overflow=SPARE_CONNECTIONS,
        hide_parameters=True,  # errors must not show the content of traces
        connect_args={
            "application_name": application_name,
            "connect_timeout": 10,
            "prepare_threshold": None,  # prepared statements do not survive pgbouncer
            "keepalives_idle": 30,  # a vanished peer is noticed long before the broker's consumer_timeout
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": VANISHED_SECONDS * 1000,  # likewise while a statement is on its way to it
        },
    )
    event.listen(engine, "connect", _set_session)
    _ping_idle_connections(engine, trusted_seconds=trusted_seconds)
    return engine


def read_url(url: str) -> URL:
    """A Postgres URL with the driver that is used here.

    Raises:
        ConfigError: the URL is none, or not Postgres's.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # the cause, which may hold parts of a password, is not told
        raise ConfigError("database_url: no URL; expected postgresql://user@host:5432/database") from None
    if parsed.drivername not in {"postgresql", "postgres", "postgresql+psycopg"}:
        raise ConfigError(
            f"database_url: found the scheme {parsed.drivername}://; expected postgresql://user@host:5432/database"
        )
    return parsed.set(drivername="postgresql+psycopg")


def lost_database(error: BaseException) -> bool:
    """True when Postgres cannot be reached or cannot serve anybody now, so that all work has to wait for it.

    False for faults of ours (syntax, missing table, a value that does not fit), as waiting would not help,
    and for what Postgres gave up on, as that is one statement's trouble.
    """
    if isinstance(error, PoolTimeoutError):
        return True
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or (error.orig is not None and lost_database(error.orig))
    if not isinstance(error, psycopg.Error) or isinstance(error, PipelineAborted):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    is_lost = error.sqlstate[:2] in _LOST_CLASSES or error.sqlstate in _LOST_STATES
    return is_lost or error.sqlstate == _LOCKED_OUT


@contextmanager
def translating_losses() -> Iterator[None]:
    """Turns the loss of the database inside the block into an error of ours; other errors pass.

    Raises:
        DatabaseLostError: with the first line of what the driver said.
        LockedOutError, GivenUpError: likewise; `retries` tries again.
    """
    try:
        yield
    except (psycopg.Error, SQLAlchemyError) as error:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        state = getattr(cause, "sqlstate", None)
        first_line = str(cause).partition("\n")[0]
        if state in _GIVEN_UP_STATES:
            raise GivenUpError(f"Postgres gave up on a statement: {first_line}") from error
        if state == _LOCKED_OUT:
            raise LockedOutError(f"Postgres is kept busy by somebody else: {first_line}") from error
        if not lost_database(error):
            raise
        raise DatabaseLostError(f"Postgres is away or cannot serve us now: {first_line}") from error


def ping(engine: Engine) -> None:
    """Returns when Postgres answers.

    Raises:
        DatabaseLostError: it does not.
    """
    with translating_losses(), engine.connect() as connection:
        connection.execute(text("SELECT 1"))


@contextmanager
def pipelined_transaction(engine: Engine) -> Iterator[psycopg.Connection[TupleRow]]:
    """A driver connection in pipeline mode whose statements are committed together at the end of the block.

    Statements are sent without waiting for the answers of those before them; fetching waits. An exception
    inside the block rolls everything back.

    Raises:
        DatabaseLostError: nothing was committed, or (when the answer to the commit was lost) it is not known.
    """
    with translating_losses():
        pooled = engine.raw_connection()
        driver = cast("psycopg.Connection[TupleRow]", pooled.driver_connection)
        try:
            driver.autocommit = True  # our own BEGIN and COMMIT travel with the rest; the driver's would wait
            with driver.pipeline() as pipeline, _draining(pipeline):
                driver.execute("BEGIN")
                yield driver
                driver.execute("COMMIT")
        except BaseException:
            with suppress(psycopg.Error):
                driver.rollback()
            raise
        finally:
            try:
                if driver.closed:
                    pooled.invalidate()
                else:
                    driver.autocommit = False
            except psycopg.Error:
                # Postgres ended it in the middle: the driver does not know yet that it is closed
                pooled.invalidate()
            pooled.close()


def _ping_idle_connections(engine: Engine, *, trusted_seconds: float) -> None:
    """A connection that died while it was idle is replaced unseen; with its pool, as they die together."""

    def note_use(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[_USED_AT] = time.monotonic()

    def ping_idle(connection: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: object) -> None:
        used_at = entry.info.get(_USED_AT)  # None: new
        if used_at is None or time.monotonic() - used_at < trusted_seconds:
            return
        try:
            engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", ping_idle)


@contextmanager
def _draining(pipeline: psycopg.Pipeline) -> Iterator[None]:
    """After an error, takes in the answers still out; the driver would log them as errors of their own."""
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):
            pipeline.sync()
        raise


def _set_session(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """By statement and not by start-up option, which pgbouncer refuses."""
    cursor = connection.cursor()
    cursor.execute(f"SET statement_timeout = '{STATEMENT_TIMEOUT_SECONDS}s'")
    cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'")
    cursor.execute("SET timezone = 'UTC'")
    cursor.close()
    connection.commit()
