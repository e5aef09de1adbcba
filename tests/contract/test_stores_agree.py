"""Any sequence of calls has the same answers from the fake and from Postgres, and the ledger adds up."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    multiple,
    rule,
    run_state_machine_as_test,
)

from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    FREE,
    PAID,
    make_assessment,
    make_calls,
    make_outage_call,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import TRANSITIONS, EvaluationState
from services.postgres import empty_tables
from services.stores import FakeStores, PostgresStores

S = EvaluationState
MIDNIGHT = NOON.replace(hour=0)


class BothStores(RuleBasedStateMachine):
    """Does everything to both and compares."""

    keys = Bundle("keys")
    claims = Bundle("claims")

    def __init__(self, engine):
        super().__init__()
        empty_tables(engine)
        self.engine = engine
        self.fake = FakeStores(FakeClock(MIDNIGHT))
        self.real = PostgresStores(FakeClock(MIDNIGHT), engine)
        self.all_keys = {}

    def both(self, call):
        expected, found = call(self.fake), call(self.real)
        assert found == expected
        return found

    @rule(
        target=keys,
        trace_id=st.sampled_from("ab"),
        answer=st.sampled_from("uvwxy"),
        is_guessed=st.booleans(),
        minutes=st.sampled_from([-1500, -1, 0, 1]),
        state=st.sampled_from([S.WAITING, S.WAITING, S.SAMPLED_OUT]),
        claims_first=st.booleans(),
    )
    def admit(self, trace_id, answer, is_guessed, minutes, state, *, claims_first):
        trace = make_trace(
            trace_id,
            answer=answer,
            occurred_at=MIDNIGHT + timedelta(minutes=minutes),
            occurred_at_guessed=is_guessed,
        )
        planned = (plan_free(), plan_paid(state))
        admission = self.both(lambda stores: stores.traces.admit(trace, planned, claims_first=claims_first))
        # what is claimed with it is left as if its process had died: it is taken up again like any other
        started = () if admission.claimed is None else (admission.claimed.key,)
        self.all_keys |= dict.fromkeys((*started, *admission.pending))
        return multiple(*started, *admission.pending)

    @rule(target=claims, key=keys)
    def claim(self, key):
        claimed = self.both(lambda stores: stores.traces.claim(key))
        return multiple() if claimed is None else claimed

    @rule(claimed=claims, state=st.sampled_from([S.SCORED, S.NOT_EVALUABLE, S.FAILED]), n=st.integers(0, 2))
    def finish(self, claimed, state, n):
        result = make_result(state, assessment=make_assessment(calls=make_calls()[:n]))
        self.both(lambda stores: stores.traces.finish(claimed, result))

    @rule(claimed=consumes(claims))
    def crash(self, claimed):
        """The process that held it is gone."""

    @rule(claimed=claims, seconds=st.sampled_from([0, 20, 600]), has_asked=st.booleans())
    def postpone(self, claimed, seconds, has_asked):
        until = self.fake.clock.now() + timedelta(seconds=seconds)
        calls = (make_calls()[0], make_outage_call()) if has_asked else ()
        self.both(
            lambda stores: stores.traces.postpone(
                claimed, until=until, cause=Cause.JUDGE_UNAVAILABLE, calls=calls
            )
        )

    @rule(seconds=st.sampled_from([1, 20, 149, 150, 151, 600]))
    def pass_time(self, seconds):
        self.both(lambda stores: stores.clock.advance(seconds))

    @rule()
    def sweep(self):
        self.both(lambda stores: set(stores.take_due()))

    @rule(key=keys)
    def look(self, key):
        self.both(lambda stores: stores.look(key))

    def teardown(self):
        for key in self.all_keys:
            self.both(lambda stores, key=key: stores.look(key))
        counts = count_states(self.engine, since=MIDNIGHT)
        revisions = count_revisions(self.engine, since=MIDNIGHT)
        for judge in (FREE, PAID):
            assert sum(count for (name, _), count in counts.items() if name == judge) == revisions
        assert len(self.fake.traces.traces) == revisions


@pytest.mark.integration
def test_the_fake_and_postgres_agree(shared_engine):
    run_state_machine_as_test(
        lambda: BothStores(shared_engine),
        settings=settings(
            max_examples=60,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_every_state_can_be_reached_from_waiting():
    reached, front = set(), {S.WAITING}
    while front:
        reached |= front
        front = set().union(*(TRANSITIONS[state] for state in front)) - reached
    assert reached == set(S)
