"""Partitions, one a table and day: made ahead, made for late days on demand, dropped at each table's own age.

Neither making nor dropping stops writers: a partition is made as a table of its own and then attached, and it
is detached concurrently before it is dropped; both take locks on the parent that inserts do not mind.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from psycopg.errors import CheckViolation
from sqlalchemy import text

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.locks import hold_job_lock
from ragsonde.storage.open_records import delete_closed
from ragsonde.storage.table_names import PARTITIONED
from ragsonde_schemas.errors import GivenUpError, LockedOutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Engine

    from ragsonde_schemas.errors import RagsondeError

DAYS_OF_CLOCK_SKEW = 2
"""A producer's time may be a day ahead, and our own clock may be behind a producer's midnight."""

_MAKING = "make_partitions"
_ROWS_A_BATCH = 500
_NAME = re.compile(rf"({'|'.join(sorted(PARTITIONED, key=len, reverse=True))})_(\d{{8}})")
_SPANS = "span"
_IS_OWNER = text("SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(:table)")
_MAKE_BY_OWNER = text("SELECT ragsonde_make_partition(:table, :day)")
"""For a role that owns no tables: a function of deploy/postgres/roles.sql, which does as `_make` does."""

_EMPTIED_BY_ROW = {"parked_message": ("id", "parked_at"), "suspect": ("message_key", "started_at")}

_Result = TypeVar("_Result")


class Partition(NamedTuple):
    """A partition that exists; without a parent it is one that was detached and not yet dropped."""

    table: str
    day: date
    is_attached: bool
    is_detaching: bool

    @property
    def name(self) -> str:
        """Its name in the database."""
        return name_partition(self.table, day=self.day)


def name_partition(table: str, *, day: date) -> str:
    """The partition's name: `score_20261007`."""
    return f"{table}_{day:%Y%m%d}"


def ensure_partitions(engine: Engine, *, today: date, days_ahead: int = 7) -> list[str]:
    """Names of the partitions that were made so that all tables have one for today and the days ahead.

    Any number of processes may do this at once.

    Raises:
        DatabaseLostError: Postgres is away; some may have been made.
    """
    return [
        name
        for offset in range(days_ahead + 1)
        for name in ensure_day(engine, day=today + timedelta(days=offset))
    ]


def ensure_day(engine: Engine, *, day: date, tables: Sequence[str] = PARTITIONED) -> list[str]:
    """Names of the partitions that were made so that all these tables have one for the day.

    Raises:
        DatabaseLostError: Postgres is away; nothing was made.
    """
    with translating_losses(), engine.begin() as connection:
        if not _list_missing(connection, day=day, tables=tables):
            return []
        hold_job_lock(connection, _MAKING)
        missing = _list_missing(connection, day=day, tables=tables)
        for table in missing:
            _make(connection, table, day=day)
        return [name_partition(table, day=day) for table in missing]


def plan_partitions(engine: Engine, *, today: date, days_ahead: int = 7) -> list[str]:
    """Names of the partitions that `ensure_partitions` would make.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    days = [today + timedelta(days=offset) for offset in range(days_ahead + 1)]
    with translating_losses(), engine.connect() as connection:
        return [
            name_partition(table, day=day) for day in days for table in _list_missing(connection, day=day)
        ]


def list_missing_partitions(engine: Engine, *, day: date) -> list[str]:
    """Names of the tables that have no partition for the day.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return _list_missing(connection, day=day)


def drop_expired(engine: Engine, *, today: date, retention: Mapping[str, int]) -> list[str]:
    """Names of the partitions that were dropped because their day is over the table's age.

    Tables that are not partitioned lose the rows that are over their age, and `span` is the age at which
    the spans of closed traces go. One process may do it at a time: the monitor does, under its job's lock.

    Args:
        engine: of this process.
        today: UTC.
        retention: days by table; what is not named is kept.

    Raises:
        DatabaseLostError: Postgres is away; what was begun is ended by the next run.
        GivenUpError, LockedOutError: somebody reads a table for long; the others are done.
    """
    dropped = []
    with translating_losses(), engine.connect() as connection:
        partitions = list(list_partitions(connection))
    stuck: dict[str, RagsondeError] = {}
    for partition in select_expired(partitions, today=today, retention=retention):
        if partition.table in stuck:
            continue
        try:
            with translating_losses():
                _detach(engine, partition)
                _drop_detached(engine, partition)
        except (GivenUpError, LockedOutError) as error:
            stuck[partition.table] = error  # a long read of this table keeps no other from being emptied
        else:
            dropped.append(partition.name)
    with translating_losses():
        for table in _EMPTIED_BY_ROW.keys() & retention.keys():
            _delete_expired(engine, table, today=today, days=retention[table])
        if _SPANS in retention:
            _delete_closed_traces(engine, today=today, days=retention[_SPANS])
    for reason in stuck.values():
        raise reason
    return dropped


def select_expired(
    partitions: Iterable[Partition], *, today: date, retention: Mapping[str, int]
) -> list[Partition]:
    """Those that are over their table's age, or whose drop was begun."""
    return [
        one
        for one in partitions
        if (today - one.day).days > retention.get(one.table, sys.maxsize)
        or one.is_detaching
        or not one.is_attached
    ]


def list_filled(connection: Connection, partitions: Iterable[Partition]) -> list[Partition]:
    """Those that hold a row; partitions of late days are made for all tables, and most stay empty."""
    return [
        one
        for one in partitions
        if connection.execute(text(f'SELECT EXISTS (SELECT FROM "{one.name}")')).scalar_one()  # noqa: S608
    ]


def list_partitions(connection: Connection) -> Iterator[Partition]:
    """The partitions that exist, by table and day, the detached ones too."""
    rows = connection.execute(
        text(
            "SELECT c.relname, i.inhparent IS NOT NULL, coalesce(i.inhdetachpending, false)"
            " FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
            " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname"
        )
    )
    for name, is_attached, is_detaching in rows:
        if match := _NAME.fullmatch(name):
            day = datetime.strptime(match[2], "%Y%m%d").replace(tzinfo=UTC).date()
            yield Partition(match[1], day, is_attached, is_detaching)


def retrying_with_partitions(
    engine: Engine, attempt: Callable[[], _Result], *, day: date, today: date, retention_days: int
) -> _Result:
    """The result of `attempt`, made once more when a partition of its day was missing and could be made.

    Raises:
        DatabaseLostError: Postgres is away.
        ValueError: the day is older than the retention or ahead of today: its time should have been guessed.
    """
    try:
        return attempt()
    except CheckViolation as error:
        if not is_missing_partition(error):
            raise
        if not -DAYS_OF_CLOCK_SKEW <= (today - day).days <= retention_days:
            raise ValueError(
                f"no partition for the day {day}: expected a day from {retention_days} days before to"
                f" {DAYS_OF_CLOCK_SKEW} days after {today}"
            ) from error
    ensure_day(engine, day=day)
    return attempt()


def is_missing_partition(error: CheckViolation) -> bool:
    """True when a row found no partition; the violation of a constraint names the constraint."""
    return error.diag.constraint_name is None


def _list_missing(connection: Connection, *, day: date, tables: Sequence[str] = PARTITIONED) -> list[str]:
    expected = [name_partition(table, day=day) for table in tables]
    attached = set(
        connection.execute(
            text(
                "SELECT c.relname FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid"
                " WHERE c.relname = ANY(:expected) AND c.relnamespace = current_schema()::regnamespace"
                " AND NOT i.inhdetachpending"
            ),
            {"expected": expected},
        ).scalars()
    )
    return [table for table, name in zip(tables, expected, strict=True) if name not in attached]


def _make(connection: Connection, table: str, *, day: date) -> None:
    if not connection.execute(_IS_OWNER, {"table": table}).scalar_one():
        connection.execute(_MAKE_BY_OWNER, {"table": table, "day": day})
        return
    name = name_partition(table, day=day)
    next_day = day + timedelta(days=1)
    _finalize_if_detaching(connection, table, name)
    connection.execute(text(f"DROP TABLE IF EXISTS {name}"))  # expired, detached, and not dropped yet
    connection.execute(
        text(f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)")
    )
    connection.execute(
        text(f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{day}') TO ('{next_day}')")
    )


def _finalize_if_detaching(connection: Connection, table: str, name: str) -> None:
    is_detaching = connection.execute(
        text("SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass(:name)"), {"name": name}
    ).scalar()
    if is_detaching:
        connection.execute(text(f"ALTER TABLE {table} DETACH PARTITION {name} FINALIZE"))


def _detach(engine: Engine, partition: Partition) -> None:
    if not partition.is_attached:
        return
    how = "FINALIZE" if partition.is_detaching else "CONCURRENTLY"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"ALTER TABLE {partition.table} DETACH PARTITION {partition.name} {how}"))


def _drop_detached(engine: Engine, partition: Partition) -> None:
    """Under the lock of the makers: a late record may have brought the day back meanwhile."""
    with engine.begin() as connection:
        hold_job_lock(connection, _MAKING)
        is_attached = connection.execute(
            text("SELECT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(:name))"),
            {"name": partition.name},
        ).scalar_one()
        if not is_attached:
            connection.execute(text(f"DROP TABLE IF EXISTS {partition.name}"))


def _delete_expired(engine: Engine, table: str, *, today: date, days: int) -> None:
    key, column = _EMPTIED_BY_ROW[table]
    statement = text(
        f"DELETE FROM {table} WHERE {key} IN"  # noqa: S608  # all three names are constants of this file
        f" (SELECT {key} FROM {table} WHERE {column} < :oldest LIMIT {_ROWS_A_BATCH})"
    )
    oldest = _find_oldest(today, days)
    has_more = True
    while has_more:
        with engine.begin() as connection:
            has_more = connection.execute(statement, {"oldest": oldest}).rowcount == _ROWS_A_BATCH


def _delete_closed_traces(engine: Engine, *, today: date, days: int) -> None:
    oldest = _find_oldest(today, days)
    has_more = True
    while has_more:
        with pipelined_transaction(engine) as connection:
            has_more = delete_closed(connection, oldest=oldest, limit=_ROWS_A_BATCH) == _ROWS_A_BATCH


def _find_oldest(today: date, days: int) -> datetime:
    return datetime.combine(today, time.min, tzinfo=UTC) - timedelta(days=days)
