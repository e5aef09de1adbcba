"""The check set in Postgres: chosen from stored traces, judged once a day whatever happens, and its drift."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from sqlalchemy import select, text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    FREE,
    PAID,
    PAID_PRINT,
    make_calls,
    make_full_trace,
    make_outcomes,
    make_trace,
    plan_free,
)
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.check_runs import PostgresCheckStore, open_checks, take_due_checks
from ragsonde.storage.check_traces import (
    add_checks,
    drop_checks,
    list_candidates,
    list_checks,
    read_check_scores,
    rebuild_check_trace,
)
from ragsonde.storage.costs import sum_costs
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.stale_reservations import release_stale_reservations
from ragsonde.storage.tables import CheckResultRow, CheckTraceRow, JudgeSpendRow, ScoreRow
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.check import CheckResult
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

DAY = timedelta(days=1)
WORST = WorstCase(calls=3, tokens=3_000, cost_usd=0.03)
LEASE = 150


class Bench:
    """A store of traces, a check set made of them, and workers on one clock."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.clock = FakeClock(NOON.replace(hour=23))
        self.stores = PostgresStores(self.clock, engine)
        self.budgets = PostgresBudgets(
            engine,
            clock=self.clock,
            limits={PAID: (Limit(period=Period.DAY, calls=100),)},
            on_pause=PostgresJudgeStates(engine, clock=self.clock).pause,
        )

    def worker(self) -> PostgresCheckStore:
        return PostgresCheckStore(self.engine, clock=self.clock, lease_seconds=LEASE)

    def admit(self, *raws, app="shop"):
        for number, raw in enumerate(raws):
            trace = make_trace(f"{app}-{number}", answer=f"{app} {number}", app=app)
            self.stores.traces.admit(trace, (plan_free(raw),))

    def choose(self, app="shop"):
        candidates = list_candidates(self.engine, app=app, now=self.clock.now(), days=3)
        add_checks(self.engine, candidates, now=self.clock.now())
        return [one.id for one in list_checks(self.engine, app=app)]

    def open(self, ids):
        now = self.clock.now()
        return open_checks(
            self.engine, judge=PAID, fingerprint=PAID_PRINT, check_ids=ids, day=now.date(), now=now
        )

    def take(self):
        return take_due_checks(
            self.engine,
            fingerprints=[(PAID, PAID_PRINT)],
            now=self.clock.now(),
            limit=100,
            queued_for_seconds=LEASE,
        )

    def judge(self, key, raw=0.8, *, calls=(), **fields):
        worker = self.worker()
        claimed = worker.claim(key)
        given = Assessment(answered_model="m-1", calls=calls, **fields)
        return worker.finish(claimed, CheckResult(assessment=given, cause=None, outcomes=make_outcomes(raw)))

    def rows(self, *columns):
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(select(*columns))]


@pytest.fixture
def bench(engine):
    return Bench(engine)


def test_candidates_are_scored_traces_with_their_mean_and_the_newest_first(bench):
    bench.admit(0.2, 0.9)
    bench.admit(0.5, app="other")
    found = list_candidates(bench.engine, app="shop", now=bench.clock.now(), days=3)
    assert {(one.trace_id, one.mean_raw) for one in found} == {("shop-0", 0.2), ("shop-1", 0.9)}
    assert [one.place for one in found] == [0, 1]


def test_traces_whose_texts_are_gone_are_no_candidates(bench):
    bench.admit(0.2)
    with bench.engine.begin() as connection:
        connection.execute(text("DELETE FROM trace_text"))
    assert list_candidates(bench.engine, app="shop", now=bench.clock.now(), days=3) == ()


def test_a_copy_holds_what_judges_read_and_nothing_that_names_people(bench):
    trace = make_full_trace().model_copy(update={"app": "shop"})
    bench.stores.traces.admit(trace, (plan_free(),))
    bench.choose()
    ((stored,),) = bench.rows(CheckTraceRow.trace)
    copy = rebuild_check_trace(stored)
    assert copy.contexts == trace.contexts
    assert (copy.query, copy.answer, copy.reference, copy.turns) == (
        trace.query, trace.answer, trace.reference, trace.turns,
    )  # fmt: skip
    assert (copy.content_hash, copy.occurred_at) == (trace.content_hash, trace.occurred_at)
    assert (copy.user_id, copy.session_id, copy.metadata, copy.wish.scorers) == (None, None, {}, None)


def test_the_same_content_is_in_the_set_once(bench):
    bench.admit(0.2, 0.9)
    assert len(bench.choose()) == 2
    assert len(bench.choose()) == 2


def test_a_check_is_published_once_until_its_time_in_the_queue_is_over(bench):
    bench.admit(0.2, 0.9)
    ids = bench.choose()
    assert (bench.open(ids), bench.open(ids)) == (2, 0)
    assert {key.check_id for key in bench.take()} == set(ids)
    assert bench.take() == []
    bench.clock.advance(LEASE)
    assert len(bench.take()) == 2


def test_what_is_done_is_not_due_again_today_and_is_tomorrow(bench):
    bench.admit(0.2)
    ids = bench.choose()
    bench.open(ids)
    (key,) = bench.take()
    assert bench.judge(key)
    bench.clock.advance(LEASE)
    assert bench.take() == []
    bench.clock.jump(DAY.total_seconds())
    bench.open(ids)
    (tomorrow,) = bench.take()
    assert tomorrow.day == key.day + DAY


def test_a_redelivered_check_has_one_result_and_one_payment(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    bench.judge(key, calls=make_calls())
    assert bench.worker().claim(key) is None
    row = CheckResultRow
    ((scores, model, calls),) = bench.rows(row.scores, row.answered_model, row.calls)
    assert scores["context_precision"] == {
        "version": "1:answer", "status": "scored", "raw": 0.8, "value": 8.0,
    }  # fmt: skip
    assert scores["statement_relevancy"]["cause"] == "not_assessed"
    assert (model, calls) == ("m-1", len(make_calls()))


def test_two_workers_never_run_the_same_check(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    assert bench.worker().claim(key) is not None
    assert bench.worker().claim(key) is None


def test_a_killed_worker_leaks_no_reservation_and_its_late_result_is_not_written(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    dead = bench.worker().claim(key)
    assert bench.budgets.reserve_check(dead, lambda: WORST) is Reservation.HELD
    day = JudgeSpendRow.period == "day"
    held = select(JudgeSpendRow.reserved_calls, JudgeSpendRow.spent_calls).where(day)
    with bench.engine.connect() as connection:
        assert connection.execute(held).one() == (3, 0)
    bench.clock.advance(LEASE)
    second = bench.worker().claim(key)
    assert (second.starts, second.unfinished_starts) == (2, 2)
    with bench.engine.connect() as connection:
        assert connection.execute(held).one() == (0, 0)
    bench.budgets.reserve_check(second, lambda: WORST)
    result = CheckResult(assessment=Assessment(calls=make_calls()), cause=None, outcomes=make_outcomes())
    assert not bench.worker().finish(dead, result)
    assert bench.worker().finish(second, result)
    paid = 2 * len(make_calls())
    with bench.engine.connect() as connection:
        assert connection.execute(held).one() == (0, paid)


def test_what_a_dead_check_of_a_dropped_trace_holds_is_given_back(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    dead = bench.worker().claim(key)
    bench.budgets.reserve_check(dead, lambda: WORST)
    drop_checks(bench.engine, app="shop", ids=None)
    assert release_stale_reservations(bench.engine, now=bench.clock.now(), limit=9) == 0
    bench.clock.advance(LEASE + 1)
    assert bench.worker().claim(key) is None
    assert release_stale_reservations(bench.engine, now=bench.clock.now(), limit=9) == 1
    result = CheckResult(assessment=Assessment(calls=make_calls()), cause=None, outcomes=make_outcomes())
    assert not bench.worker().finish(dead, result)
    row = JudgeSpendRow
    with bench.engine.connect() as connection:
        spent = connection.execute(select(row.reserved_calls, row.spent_calls).where(row.period == "day"))
        assert spent.one() == (0, len(make_calls()))


def test_a_full_budget_refuses_a_check_like_an_evaluation(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    claimed = bench.worker().claim(key)
    too_much = WORST.model_copy(update={"calls": 101})
    assert bench.budgets.reserve_check(claimed, lambda: too_much) is Reservation.SPENT


def test_a_postponed_check_is_free_and_due_at_its_time(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    worker = bench.worker()
    assert worker.postpone(worker.claim(key), until=bench.clock.now() + timedelta(seconds=300))
    assert bench.take() == []
    bench.clock.advance(300)
    assert bench.take() == [key]
    assert worker.claim(key).unfinished_starts == 1


def test_what_was_not_done_by_midnight_is_left(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    bench.clock.jump(DAY.total_seconds())
    assert bench.take() == []


def test_first_and_newest_numbers_are_read_for_each_trace(bench):
    bench.admit(0.2)
    ids = bench.choose()
    for raw in (0.8, 0.7, 0.6):
        bench.open(ids)
        (key,) = bench.take()
        bench.judge(key, raw)
        bench.clock.jump(DAY.total_seconds())
    (score,) = read_check_scores(bench.engine, since=date.min)
    assert (score.first, score.newest) == (0.8, 0.6)
    assert score.newest_day - score.first_day == 2 * DAY


def test_the_answers_of_a_fallback_are_no_drift_of_the_judge(bench):
    bench.admit(0.2)
    bench.open(bench.choose())
    (key,) = bench.take()
    bench.judge(key, answered_fingerprint="ab" * 8)
    assert read_check_scores(bench.engine, since=date.min) == ()


def test_a_check_writes_no_score_of_a_trace(bench):
    bench.admit(0.2)
    before = bench.rows(ScoreRow.trace_id, ScoreRow.judge, ScoreRow.scorer)
    bench.open(bench.choose())
    (key,) = bench.take()
    bench.judge(key)
    assert bench.rows(ScoreRow.trace_id, ScoreRow.judge, ScoreRow.scorer) == before


def test_a_dropped_trace_loses_its_texts_and_is_not_judged(bench):
    bench.admit(0.2, 0.9)
    first, second = bench.choose()
    bench.open([first, second])
    keys = bench.take()
    assert drop_checks(bench.engine, app="shop", ids=[first]) == 1
    assert [one.id for one in list_checks(bench.engine)] == [second]
    claims = {key.check_id: bench.worker().claim(key) is not None for key in keys}
    assert claims == {first: False, second: True}
    stored = dict(bench.rows(CheckTraceRow.id, CheckTraceRow.trace))
    assert (stored[first], bool(stored[second])) == ({}, True)


def test_what_checks_cost_stands_in_the_costs_of_their_day(bench):
    bench.admit(0.2, 0.9)
    bench.open(bench.choose())
    first, second = bench.take()
    known, *_ = make_calls()
    known = known.model_copy(update={"tokens_in": 1000, "tokens_out": 100, "cost_usd": 0.01})
    bench.judge(first, calls=(known,))
    bench.judge(second, calls=(known.model_copy(update={"cost_usd": None}),))
    lines = {line.judge: line for line in sum_costs(bench.engine, day=first.day)}
    paid = lines[PAID]
    assert (paid.day, paid.looked_at, paid.judged, paid.checks) == (first.day, 0, 0, 2)
    assert (paid.calls, paid.tokens_in, paid.tokens_out, paid.cost_usd, paid.unpriced) == (
        2, 2000, 200, 0.01, 1,
    )  # fmt: skip
    assert (lines[FREE].judged, lines[FREE].checks) == (2, 0)
