"""A database of each earlier schema, with rows in every table, is upgraded: nothing is lost, all is read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import make_trace, plan_free
from fakes.watched_traces import find_precision
from ragsonde.storage.costs import sum_costs
from ragsonde.storage.engine import build_engine
from ragsonde.storage.history import read_history
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.migrations import find_migrations, migrate, schema_state
from ragsonde.storage.told_alerts import find_alert
from ragsonde.storage.watching import PostgresWatching
from services.older_schemas import TRACE, list_tables, put_rows, read_rows, write_rows
from services.postgres import own_database
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

REVISIONS = sorted(path.name[:4] for path in (find_migrations() / "versions").glob("0*.py"))
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
def newest(postgres_server):
    """Rows in every table of the newest schema."""
    with own_database(postgres_server) as url:
        migrate(url)
        engine = build_engine(url, application_name="ragsonde test")
        try:
            yield write_rows(engine, FakeClock(NOW - timedelta(days=10)))
        finally:
            engine.dispose()


@pytest.fixture
def older(postgres_server, request):
    """An engine on a database of the schema that a test asks for."""
    with own_database(postgres_server) as url:
        migrate(url, revision=request.param)
        engine = build_engine(url, application_name="ragsonde test")
        yield url, engine
        engine.dispose()


def test_every_table_of_the_newest_schema_has_a_row_to_test_with(newest):
    assert [table for table, rows in newest.rows.items() if not rows] == []
    assert len(newest.rows) > 30


@pytest.mark.parametrize("older", REVISIONS[:-1], indirect=True)
def test_rows_of_each_earlier_schema_are_kept_and_read(newest, older, request):
    url, engine = older
    revision = request.node.callspec.params["older"]
    before = put_rows(engine, newest.rows)
    assert all(before.values())

    migrate(url)

    current, head = schema_state(engine)
    assert (current, head) == (REVISIONS[-1], REVISIONS[-1])
    assert set(list_tables(engine)) == set(newest.rows)
    with engine.connect() as connection:
        for table, rows in before.items():
            columns = rows[0].keys()
            found = [{name: row[name] for name in columns} for row in read_rows(connection, table)]
            key = lambda row: sorted((name, str(value)) for name, value in row.items())  # noqa: E731
            assert sorted(found, key=key) == sorted(rows, key=key), table
    read_all(engine, newest, has_alerts=revision >= "0014")


def read_all(engine, newest, *, has_alerts):
    """What people read of such rows, and that traces are stored beside them."""
    clock = FakeClock(NOW - timedelta(days=10))
    (revision,) = read_history(engine, TRACE).revisions
    assert {one.state for one in revision.evaluations} == {"scored"}
    assert all(one.outcomes for one in revision.evaluations)
    assert {line.calls for line in sum_costs(engine, day=clock.now().date(), judge="gpt")} == {2}
    since = clock.now() - timedelta(days=1)
    assert LedgerReader(engine, kept_days=90).read(now=clock.now(), since=since).revisions == 1
    PostgresStores(clock, engine).traces.admit(
        make_trace("new", occurred_at=clock.now() - timedelta(hours=1), environment="production"),
        (plan_free(),),
    )
    watching = PostgresWatching(engine, clock=clock, limits={}, comparable=["context_precision"])
    places = {one.activity.place.app: one for one in watching.read_overview().places}
    assert sum(one.n for one in find_precision(places["shop"])) == 3
    alert = find_alert(engine, newest.alert)
    assert (alert is not None) == has_alerts
