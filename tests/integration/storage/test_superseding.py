"""How many score rows a newer revision replaces, whichever of two transactions has to wait for the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_result, make_trace, plan_free, plan_paid
from ragsonde_schemas.evaluation import EvaluationState
from services.stores import PostgresStores
from services.waiting import wait_for

pytestmark = pytest.mark.integration

_WAITING = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = :what"
)


def wait_for_waiting(engine, what):
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        wait_for(lambda: connection.execute(_WAITING, {"what": what}).scalar(), what=f"one waits: {what}")


def count_scores(engine, state):
    """Score rows of evaluations in a state."""
    query = text(
        "SELECT count(*) FROM score JOIN evaluation"
        " USING (trace_id, app, record_key, revision, day, judge, fingerprint) WHERE state = :state"
    )
    with engine.connect() as connection:
        return connection.execute(query, {"state": state.value}).scalar_one()


def test_a_run_that_ends_while_the_revision_waits_for_it_is_counted(engine):
    stores = PostgresStores(FakeClock(), engine)
    first, second = make_trace(answer="a"), make_trace(answer="b")
    admission = stores.traces.admit(first, (plan_free(), plan_paid()))
    claimed = stores.traces.claim(admission.pending[0])
    with ThreadPoolExecutor(2) as pool:
        with engine.connect() as holder, holder.begin():
            holder.execute(text("LOCK TABLE score IN SHARE MODE"))
            finishing = pool.submit(stores.traces.finish, claimed, make_result())
            wait_for_waiting(engine, "relation")
            admitting = pool.submit(stores.traces.admit, second, ())
            wait_for_waiting(engine, "transactionid")
        assert finishing.result() is EvaluationState.SCORED
        assert admitting.result().superseded == 4
    assert count_scores(engine, EvaluationState.SUPERSEDED) == 4
