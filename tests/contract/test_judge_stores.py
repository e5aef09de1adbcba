"""What the ports about judges promise, held against the fakes and Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.budgets import FakeBudgets
from fakes.check_store import FakeCheckStore
from fakes.clock import FakeClock
from fakes.evaluations import (
    PAID,
    PAID_PRINT,
    make_assessment,
    make_calls,
    make_outcomes,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from fakes.judge_states import FakeJudgeStates
from fakes.sample_rates import FixedRates
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.check_runs import PostgresCheckStore, open_checks
from ragsonde.storage.check_traces import add_checks, list_candidates, list_checks
from ragsonde.storage.judge_states import PAUSE, PostgresJudgeStates
from ragsonde.storage.sample_rates import PostgresSampleRates
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.check import CheckKey, CheckResult
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.stores import FakeStores, PostgresStores

BOTH = ("fake", pytest.param("postgres", marks=pytest.mark.integration))
CLEAN = make_assessment().model_copy(update={"faults": {}, "truncated": False})
FALLBACK = "ab" * 8
LEASE = 150
WORST = WorstCase(calls=3, tokens=3_000, cost_usd=0.03)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=BOTH)
def engine_or_none(request):
    return None if request.param == "fake" else request.getfixturevalue("engine")


class TestEarlierVerdicts:
    @pytest.fixture
    def claim_after(self, engine_or_none, clock):
        """Claims a trace after the judge gave these verdicts about another one."""

        def claim(given, trace=None, *, claims_first=False, fingerprint=PAID_PRINT):
            stores = open_stores(engine_or_none, clock)
            plan = plan_paid()
            first = stores.traces.admit(make_trace("t-0"), (plan,)).pending[0]
            stores.traces.finish(stores.traces.claim(first), make_result(assessment=given))
            clock.advance(60)
            plan = plan.model_copy(update={"fingerprint": fingerprint})
            admission = stores.traces.admit(trace or make_trace("t-1"), (plan,), claims_first=claims_first)
            return admission.claimed or stores.traces.claim(admission.pending[0])

        return claim

    @pytest.mark.parametrize("claims_first", [False, True])
    def test_a_claim_brings_what_was_given_for_the_same_content_without_its_calls(
        self, claim_after, claims_first
    ):
        claimed = claim_after(CLEAN.model_copy(update={"calls": make_calls()}), claims_first=claims_first)
        assert claimed.trace.trace_id == "t-1"
        assert claimed.earlier == CLEAN

    @pytest.mark.parametrize("claims_first", [False, True])
    def test_other_content_and_another_judge_find_nothing(self, claim_after, claims_first):
        other = make_trace(answer="another")
        assert claim_after(CLEAN, other, claims_first=claims_first).earlier is None

    def test_what_another_judge_gave_is_none(self, claim_after):
        assert claim_after(CLEAN, fingerprint=FALLBACK).earlier is None

    @pytest.mark.parametrize(
        "of_no_use",
        [
            {"answered_fingerprint": FALLBACK},
            {"faults": {Aspect.LEVEL: Fault(cause=Cause.VERDICT_MISMATCH, message="missing")}},
            {"truncated": True},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_what_a_fallback_gave_what_has_faults_and_what_was_cut_is_none(self, claim_after, of_no_use):
        assert claim_after(CLEAN.model_copy(update=of_no_use)).earlier is None

    def test_of_several_the_newest_is_found(self, engine_or_none, clock):
        stores = open_stores(engine_or_none, clock)
        for number in range(3):
            (key,) = stores.traces.admit(make_trace(f"t-{number}"), (plan_paid(),)).pending
            given = CLEAN.model_copy(update={"missing": (str(number),)})
            stores.traces.finish(stores.traces.claim(key), make_result(assessment=given))
            clock.advance(60)
        admission = stores.traces.admit(make_trace("t-9"), (plan_paid(),), claims_first=True)
        assert admission.claimed.earlier.missing == ("2",)


class TestBudgets:
    @pytest.fixture
    def claimed(self, engine_or_none, clock):
        """A running evaluation of a paid judge."""
        stores = open_stores(engine_or_none, clock)
        (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
        return stores.traces.claim(key)

    @pytest.fixture
    def make_budgets(self, engine_or_none, clock):
        def make(answer=None):
            """Budgets that have no limit, or one that gives this answer."""
            if engine_or_none is None:
                return FakeBudgets() if answer is None else FakeBudgets(answer)
            calls = {Reservation.HELD: 1_000, Reservation.SPENT: 2}
            limits = {} if answer is None else {PAID: (Limit(period=Period.HOUR, calls=calls[answer]),)}
            states = PostgresJudgeStates(engine_or_none, clock=clock)
            return PostgresBudgets(engine_or_none, clock=clock, limits=limits, on_pause=states.pause)

        return make

    def test_without_a_limit_there_is_room_and_nothing_is_estimated(self, make_budgets, claimed):
        def estimate():
            raise AssertionError("not asked for")

        assert make_budgets().reserve(claimed, estimate) is Reservation.HELD

    @pytest.mark.parametrize("answer", [Reservation.HELD, Reservation.SPENT])
    def test_with_a_limit_the_worst_case_is_asked_for_once(self, make_budgets, claimed, answer):
        asked = []

        def estimate():
            asked.append(WORST)
            return WORST

        assert make_budgets(answer).reserve(claimed, estimate) is answer
        assert asked == [WORST]


class TestSampleRates:
    @pytest.fixture
    def rates(self, engine_or_none, clock):
        configured = {"gpt": 0.25, "lexical": 1.0}
        if engine_or_none is None:
            return FixedRates(configured)
        return PostgresSampleRates(engine_or_none, clock=clock, configured=configured)

    @pytest.mark.parametrize("app", ["", "shop"])
    def test_where_none_is_set_the_configured_rate_is_in_force(self, rates, app):
        assert (rates.find(app, "gpt"), rates.find(app, "lexical")) == (0.25, 1.0)


class TestJudgeStates:
    @pytest.fixture
    def states(self, engine_or_none, clock):
        if engine_or_none is None:
            return FakeJudgeStates(clock)
        return PostgresJudgeStates(engine_or_none, clock=clock)

    @pytest.fixture
    def wait(self, engine_or_none, states, clock):
        def until_a_probe_may_be_made():
            if engine_or_none is None:
                states.probes = 1
            else:
                clock.advance(PAUSE.total_seconds())

        return until_a_probe_may_be_made

    def test_one_of_which_nothing_is_known_is_in_its_first_epoch_and_not_paused(self, states):
        state = states.find(PAID, PAID_PRINT)
        assert (state.judge, state.fingerprint, state.epoch) == (PAID, PAID_PRINT, 1)
        assert (state.paused_until, state.pause_message) == (None, None)

    def test_a_pause_is_of_one_model_and_ends_when_it_is_resumed(self, states):
        states.pause(PAID, PAID_PRINT, message="401")
        assert states.find(PAID, PAID_PRINT).pause_message == "401"
        assert states.find(PAID, PAID_PRINT).paused_until is not None
        assert states.find(PAID, FALLBACK).paused_until is None
        states.resume(PAID, PAID_PRINT)
        assert states.find(PAID, PAID_PRINT).paused_until is None

    def test_one_may_try_when_the_time_has_come(self, states, wait):
        states.pause(PAID, PAID_PRINT, message="401")
        assert not states.take_probe(PAID, PAID_PRINT)
        wait()
        assert [states.take_probe(PAID, PAID_PRINT) for _ in range(2)] == [True, False]


class TestCheckStore:
    RESULT = CheckResult(assessment=Assessment(answered_model="m-1"), cause=None, outcomes=make_outcomes())

    @pytest.fixture
    def desk(self, engine_or_none, clock):
        """A store with one check that is due, and its key."""
        trace, day = make_trace(), clock.now().date()
        if engine_or_none is None:
            key = CheckKey(check_id=1, judge=PAID, fingerprint=PAID_PRINT, day=day)
            return FakeCheckStore({key: trace}), key
        PostgresStores(clock, engine_or_none).traces.admit(trace, (plan_free(),))
        found = list_candidates(engine_or_none, app=trace.app, now=clock.now(), days=1)
        add_checks(engine_or_none, found, now=clock.now())
        (check,) = list_checks(engine_or_none)
        key = CheckKey(check_id=check.id, judge=PAID, fingerprint=PAID_PRINT, day=day)
        open_checks(
            engine_or_none,
            judge=PAID,
            fingerprint=PAID_PRINT,
            check_ids=[check.id],
            day=day,
            now=clock.now(),
        )
        return PostgresCheckStore(engine_or_none, clock=clock, lease_seconds=LEASE), key

    def test_it_is_claimed_once_and_finished_once(self, desk):
        store, key = desk
        claimed = store.claim(key)
        assert (claimed.key, claimed.starts, claimed.unfinished_starts) == (key, 1, 1)
        assert claimed.trace.content_hash == make_trace().content_hash
        assert store.claim(key) is None
        assert store.finish(claimed, self.RESULT)
        assert not store.finish(claimed, self.RESULT)
        assert store.claim(key) is None

    def test_what_is_postponed_is_claimed_again_by_a_claim_of_its_own(self, desk, clock):
        store, key = desk
        first = store.claim(key)
        assert store.postpone(first, until=clock.now() + timedelta(seconds=60))
        second = store.claim(key)
        assert second.starts == 2
        assert not store.finish(first, self.RESULT)
        assert not store.postpone(first, until=clock.now())
        assert store.finish(second, self.RESULT)

    def test_what_was_never_begun_or_runs_is_no_suspect(self, desk):
        store, key = desk
        assert not store.is_suspect(key)
        assert store.claim(key, spares_suspects=True).unfinished_starts == 1
        assert not store.is_suspect(key)

    def test_what_is_not_there_cannot_be_claimed(self, desk):
        store, key = desk
        assert store.claim(key.model_copy(update={"check_id": 10**6})) is None


def open_stores(engine, clock):
    return FakeStores(clock) if engine is None else PostgresStores(clock, engine)
