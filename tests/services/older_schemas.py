"""Rows as today's writers write them, put into a database of an older schema as far as that knows them."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import inspect, text

from fakes.clock import FakeClock
from fakes.evaluations import make_assessment, make_calls, make_full_trace, make_result, plan_free, plan_paid
from ragsonde.storage.partitions import name_partition
from ragsonde.storage.tables import Tables
from services.steering_ground import SteeringGround
from services.stores import PostgresStores

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


Rows = dict[str, list[dict[str, Any]]]
TRACE = "t-full"

_PARTITIONED = "SELECT partrelid::regclass::text FROM pg_partitioned_table"
_VALUES = {
    "bigint": "1", "integer": "1", "smallint": "1", "double precision": "0.5",
    "boolean": "true", "text": "'x'", "date": ":day", "timestamp with time zone": ":now", "jsonb": "'{}'",
    "bytea": "'x'", "ARRAY": "'{}'",
}  # fmt: skip
_COLUMNS = """
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :table ORDER BY ordinal_position
"""


class Kept(NamedTuple):
    """What was written: rows by table, and the number of the alert among them."""

    rows: Rows
    alert: int


def write_rows(engine: Engine, clock: FakeClock) -> Kept:
    """Rows in every table of the newest schema: by the stores where they write them, else made up."""
    stores = PostgresStores(clock, engine)
    trace = make_full_trace(TRACE).model_copy(update={"occurred_at": clock.now() - timedelta(hours=1)})
    (key,) = stores.traces.admit(trace, (plan_free(), plan_paid())).pending
    result = make_result(assessment=make_assessment(calls=make_calls()))
    stores.traces.finish(stores.traces.claim(key), result)
    ground = SteeringGround(engine, clock=FakeClock(clock.now()))  # which goes on with its clock
    alert = ground.fall(ground.begin())
    with engine.begin() as connection:
        for table in list_tables(engine):
            if not connection.execute(text(f"SELECT EXISTS (SELECT FROM {table})")).scalar_one():  # noqa: S608
                _make_up(connection, table, clock)
        return Kept({table: read_rows(connection, table) for table in list_tables(engine)}, alert)


def put_rows(engine: Engine, rows: Rows) -> Rows:
    """Writes what the schema of a database knows of rows; what then stands in its tables."""
    with engine.begin() as connection:
        partitioned = set(connection.execute(text(_PARTITIONED)).scalars())
        for table in list_tables(engine):
            meant = rows[table]
            if table in partitioned:
                for day in {date.fromisoformat(row["day"]) for row in meant}:
                    _add_partition(connection, table, day)
            known = {row[0] for row in connection.execute(text(_COLUMNS), {"table": table})}
            names = ", ".join(f'"{name}"' for name in meant[0] if name in known)
            connection.execute(
                text(
                    f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE "  # noqa: S608  # names of ours
                    f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, CAST(:rows AS jsonb))"
                ),
                {"rows": json.dumps(meant)},
            )
        return {table: read_rows(connection, table) for table in list_tables(engine)}


def read_rows(connection: Connection, table: str) -> list[dict[str, Any]]:
    """All rows of a table as JSON, in an order of their own."""
    found = connection.execute(text(f"SELECT to_jsonb(t) FROM {table} t")).scalars()  # noqa: S608
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


def list_tables(engine: Engine) -> list[str]:
    """The tables of a database but for partitions and Alembic's own, what others refer to first."""
    partitions = "SELECT relname FROM pg_class WHERE relispartition"
    with engine.connect() as connection:
        left_out = {*connection.execute(text(partitions)).scalars(), "alembic_version"}
    named = set(inspect(engine).get_table_names()) - left_out
    ordered = [table.name for table in Tables.metadata.sorted_tables]
    return sorted(named, key=lambda name: (ordered.index(name) if name in ordered else -1, name))


def _make_up(connection: Connection, table: str, clock: FakeClock) -> None:
    columns = connection.execute(text(_COLUMNS), {"table": table}).all()
    day = clock.now().date()
    if table in set(connection.execute(text(_PARTITIONED)).scalars()):
        _add_partition(connection, table, day)
    names = ", ".join(f'"{name}"' for name, _ in columns)
    values = ", ".join(_VALUES[kind] for _, kind in columns)
    if table == "dirty_mark":
        values = "1, NULL, NULL, :now, :later, :now"
    statement = f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({values})"  # noqa: S608
    bound = {"day": day, "now": clock.now(), "later": clock.now() + timedelta(hours=1)}
    connection.execute(text(statement), {name: bound[name] for name in bound if f":{name}" in values})


def _add_partition(connection: Connection, table: str, day: date) -> None:
    name = name_partition(table, day=day)
    connection.execute(
        text(
            f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table} "
            f"FOR VALUES FROM ('{day}') TO ('{day + timedelta(days=1)}')"
        )
    )
