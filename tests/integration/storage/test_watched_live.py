"""What is live: what occurred in the time that is shown, and no backfill brought."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.watched_traces import SHOP, admit, find_precision
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.watched_list import Sign, TraceFilter
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def stores(own_engine):  # what is sampled goes by the size of the files: none may be left of earlier rows
    return PostgresStores(FakeClock(), own_engine)


@pytest.fixture
def watching(stores):
    return PostgresWatching(stores.engine, clock=stores.clock, limits={}, comparable=["context_precision"])


def begin_backfill(stores):
    """A plan over stored traces, begun now."""
    statement = text(
        "INSERT INTO backfill (since, until, sample, rate_per_second, state, created_at, paced_at)"
        " VALUES (:day, :day, 1, 1, 'running', :now, :now) RETURNING id"
    )
    now = stores.clock.now()
    with stores.engine.begin() as connection:
        return connection.execute(statement, {"day": now.date(), "now": now}).scalar_one()


def list_ids(watching, **wanted):
    return [one.trace_id for one in watching.list_traces(TraceFilter(**SHOP.model_dump(), **wanted)).traces]


def assert_only_live(watching, *, traces, mean, lowest):
    (place,) = watching.read_overview().places
    assert place.activity.traces == len(traces)
    assert place.activity.last_at == NOON
    (judge,) = place.judges
    assert dict(judge.states) == {"scored": len(traces)}
    assert judge.assessed == len(traces)
    (precision,) = find_precision(place)
    assert (precision.n, precision.mean) == (len(traces), pytest.approx(mean))
    assert [day.mean for day in precision.days] == [pytest.approx(mean)]
    assert [low.trace_id for low in watching.list_lowest(SHOP, judge="lexical")] == lowest
    assert list_ids(watching) == traces
    assert list_ids(watching, judge="lexical") == traces
    assert list_ids(watching, scorer="context_precision") == traces
    assert list_ids(watching, sign=Sign.INSUFFICIENT) == []


def test_a_file_of_old_traces_does_not_make_a_dead_producer_look_alive(stores, watching):
    admit(stores, "live", raw=0.9)
    stores.clock.advance(7200)
    plan = {"backfill_id": begin_backfill(stores)}
    for number in range(9):
        occurred_at = NOON - timedelta(days=9)
        admit(stores, f"old-{number}", raw=0.1, plan=plan, occurred_at=occurred_at, insufficient=True)
    assert_only_live(watching, traces=["live"], mean=0.9, lowest=["live"])
    assert watching.read_overview().brought == 9


def test_nor_does_a_file_of_traces_of_the_last_day(stores, watching):
    admit(stores, "live", raw=0.9)
    stores.clock.advance(7200)
    plan = {"backfill_id": begin_backfill(stores)}
    for number in range(9):
        admit(
            stores,
            f"new-{number}",
            raw=0.1,
            plan=plan,
            occurred_at=NOON + timedelta(hours=1),
            insufficient=True,
        )
    assert_only_live(watching, traces=["live"], mean=0.9, lowest=["live"])


def test_a_trace_that_came_late_belongs_to_when_it_occurred(stores, watching):
    admit(stores, "live", raw=0.9)
    admit(stores, "late", raw=0.1, occurred_at=NOON - timedelta(hours=26))
    (place,) = watching.read_overview().places
    assert place.activity.traces == 1
    (precision,) = find_precision(place)
    assert (precision.n, [day.n for day in precision.days]) == (1, [1, 1])


def test_what_a_backfill_only_runs_once_more_stays_live(stores, watching):
    admit(stores, "live", raw=0.9)
    stores.clock.advance(60)
    number = begin_backfill(stores)
    with stores.engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET backfill_id = :id"), {"id": number})
    assert_only_live(watching, traces=["live"], mean=0.9, lowest=["live"])
    assert watching.read_overview().brought == 0


def copy_as_paid(connection, table):
    """The free judge's rows once more, as those of another judge."""
    query = text("SELECT attname FROM pg_attribute WHERE attrelid = CAST(:t AS regclass) AND attnum > 0")
    names = ", ".join(connection.execute(query, {"t": table}).scalars())
    chosen = names.replace("judge,", "'gpt',", 1)
    connection.execute(text(f"INSERT INTO {table} ({names}) SELECT {chosen} FROM {table}"))  # noqa: S608


def test_what_a_backfill_adds_to_live_traces_is_not_live(stores, watching):
    admit(stores, "live", raw=0.9)
    stores.clock.advance(60)
    added = text("UPDATE evaluation SET backfill_id = :id, is_added = true WHERE judge = 'gpt'")
    number = begin_backfill(stores)
    with stores.engine.begin() as connection:
        copy_as_paid(connection, "evaluation")
        copy_as_paid(connection, "score")
        connection.execute(added, {"id": number})
        connection.execute(text("UPDATE score SET raw = .1 WHERE judge = 'gpt' AND status = 'scored'"))
    assert_only_live(watching, traces=["live"], mean=0.9, lowest=["live"])
    assert watching.list_lowest(SHOP, judge="gpt") == ()
    assert list_ids(watching, judge="gpt") == []
    assert list_ids(watching, judge="gpt", scorer="context_precision") == []
