"""Every operation on an evaluation in every state: it goes where `TRANSITIONS` lets it, or stays."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_result, make_trace, plan_paid
from ragsonde.storage.transitions import BIRTH_STATES, UNFINISHED, list_sources
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import TERMINAL, TRANSITIONS, ClaimedEvaluation, EvaluationState
from services.postgres import empty_tables
from services.stores import PostgresStores

S = EvaluationState


def postpone(stores, run):
    stores.traces.postpone(run, until=NOON, cause=Cause.JUDGE_UNAVAILABLE)


OPERATIONS = {
    "claim": lambda stores, run: stores.traces.claim(run.key),
    "finish scored": lambda stores, run: stores.traces.finish(run, make_result(S.SCORED)),
    "finish not_evaluable": lambda stores, run: stores.traces.finish(run, make_result(S.NOT_EVALUABLE)),
    "finish failed": lambda stores, run: stores.traces.finish(run, make_result(S.FAILED)),
    "postpone": postpone,
    "admit a revision": lambda stores, _run: stores.traces.admit(make_trace(answer="new"), ()),
    "admit a duplicate": lambda stores, _run: stores.traces.admit(make_trace(), ()),
    "sweep": lambda stores, _run: stores.take_due(),
}
TAKEN_OVER = (S.RUNNING, S.RUNNING)


def is_legal(before, after):
    return after in TRANSITIONS[before] or after is before or (before, after) == TAKEN_OVER


@pytest.mark.integration
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_operation_leaves_the_map(engine, operation):
    stores = PostgresStores(FakeClock(), engine)
    trace = make_trace()
    for state, unfinished, is_over in itertools.product(S, (0, 1), (False, True)):
        empty_tables(engine)
        admission = stores.traces.admit(trace, (plan_paid(),))
        key = admission.pending[0]
        with engine.begin() as connection:
            connection.execute(
                text(
                    "UPDATE evaluation SET state = :state, starts = 1, unfinished_starts = :unfinished,"
                    " lease_until = :moment, next_attempt_at = :moment, queued_until = NULL"
                ),
                {
                    "state": state.value,
                    "unfinished": unfinished,
                    "moment": NOON + timedelta(seconds=-60 if is_over else 60),
                },
            )
        run = ClaimedEvaluation(
            key=key, trace=trace, unfinished_starts=1, attempts=0, waiting_since=NOON, starts=1
        )
        OPERATIONS[operation](stores, run)
        after = stores.look(key).state
        assert is_legal(state, after), f"{operation}: {state} -> {after}"
        if state in TERMINAL and state is not S.SUPERSEDED and operation != "admit a revision":
            assert stores.look(key).outcomes == frozenset()
            assert after is state


def test_the_sources_of_a_state_are_the_map_read_backwards():
    for source, target in itertools.product(S, S):
        assert (source.value in list_sources(target)) == (target in TRANSITIONS[source])


def test_a_state_is_either_unfinished_or_terminal():
    assert {S.WAITING, S.RUNNING} == UNFINISHED
    assert set(S) == UNFINISHED | TERMINAL
    assert not {S.RUNNING, S.SUPERSEDED} & BIRTH_STATES


@pytest.mark.integration
def test_postgres_knows_no_other_state(engine):
    stores = PostgresStores(FakeClock(), engine)
    stores.traces.admit(make_trace(), (plan_paid(),))
    with engine.connect() as connection, pytest.raises(Exception, match="ck_evaluation_state"):
        connection.execute(text("UPDATE evaluation SET state = 'parked'"))
