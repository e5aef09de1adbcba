"""Where judges stand, and rows of a newer version, from a real Postgres."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_paid
from fakes.watched_traces import SHOP, admit, leave_empty
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.watched_list import Sign, TraceFilter
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

HOLIDAY = "model_on_holiday"


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


@pytest.fixture
def watching(stores):
    return PostgresWatching(stores.engine, clock=stores.clock, limits={}, comparable=["context_precision"])


def test_a_judge_that_is_waited_for_and_one_that_is_paused_are_told(stores, watching):
    admit(stores, "t-1")
    assert watching.list_standings() == ()
    for number in range(3):
        stores.traces.admit(make_trace(f"w-{number}"), [plan_paid()])
    states = PostgresJudgeStates(stores.engine, clock=stores.clock)
    states.pause("other", "f" * 16, message="401 no such key")
    waited, paused = sorted(watching.list_standings(), key=lambda one: -one.waiting)
    assert (waited.judge, waited.waiting, waited.waits_since) == (plan_paid().judge, 3, NOON)
    assert waited.paused_since is None
    assert (paused.judge, paused.waiting, paused.paused_since) == ("other", 0, NOON)
    assert paused.pause_message == "401 no such key"


def test_words_of_a_newer_version_take_no_view_down(stores, watching):
    leave_empty(stores, "t-1")
    with stores.engine.begin() as connection:
        for table in ("evaluation", "score"):
            connection.execute(text(f"UPDATE {table} SET cause = '{HOLIDAY}' WHERE cause IS NOT NULL"))  # noqa: S608
    (place,) = watching.read_overview().places
    assert place.judges[0].causes == {HOLIDAY: 1}
    assert all(one.unscored == {HOLIDAY: 1} for one in place.scorers if one.unscored)
    (listed,) = watching.list_traces(TraceFilter(judge=place.judges[0].judge)).traces
    assert listed.cause == HOLIDAY
    (evaluation,) = watching.read_trace("t-1").revisions[0].evaluations
    assert evaluation.cause == HOLIDAY
    assert {one.cause for one in evaluation.outcomes} <= {HOLIDAY}
    assert watching.read_alert(SHOP, sign=Sign.NONE).windows[0].counts.causes == {HOLIDAY: 1}
