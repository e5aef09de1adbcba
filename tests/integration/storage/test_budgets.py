"""Budgets over all workers, in Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON
from fakes.evaluations import PAID, PAID_PRINT, make_trace
from fakes.judged_traces import make_trace as make_judged_trace
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.options import JudgeOptions
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.judge_states import PostgresJudgeStates, read_paused
from ragsonde_schemas.errors import Cause, JudgePausedError
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.budget_desk import LATE, Desk, call, per_day

pytestmark = pytest.mark.integration


def test_a_reservation_is_settled_with_what_was_spent(engine):
    desk = Desk(engine, per_day(calls=100))
    claimed = desk.claim()
    assert desk.reserve(claimed) is Reservation.HELD
    assert desk.reserved() == [(3, 3_000, pytest.approx(0.03))]
    assert desk.finish(claimed, call(), call()) is EvaluationState.SCORED
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert desk.spent() == [(2, 2_000, pytest.approx(0.02), 0)]
    assert desk.spent(Period.HOUR) == desk.spent()


def test_without_a_limit_nothing_is_estimated_and_nothing_written(engine):
    desk = Desk(engine)
    states = PostgresJudgeStates(engine, clock=desk.clock)
    budgets = PostgresBudgets(engine, clock=desk.clock, limits={}, on_pause=states.pause)

    def estimate():
        raise AssertionError("not asked for")

    assert budgets.reserve(desk.claim(), estimate) is Reservation.HELD
    assert desk.spent() == []


@pytest.mark.parametrize(
    "limit", [per_day(calls=2), per_day(tokens=2_999), per_day(usd=0.029), Limit(period=Period.HOUR, calls=2)]
)
def test_what_is_more_than_the_limit_finds_it_spent_and_reserves_nothing(engine, limit):
    desk = Desk(engine, limit)
    assert desk.reserve(desk.claim()) is Reservation.SPENT
    assert desk.reserved() == []


def test_what_would_fit_were_it_not_held_by_others_is_busy_and_fits_later(engine):
    desk = Desk(engine, per_day(calls=4))
    first, second = desk.claim(1), desk.claim(2)
    assert desk.reserve(first) is Reservation.HELD
    assert desk.reserve(second) is Reservation.BUSY
    desk.finish(first, call())
    assert desk.reserve(second) is Reservation.HELD
    desk.finish(second, call())
    assert desk.reserve(desk.claim(3)) is Reservation.SPENT


def test_a_postponed_run_and_a_shed_one_give_back_what_they_hold(engine):
    desk = Desk(engine, per_day(calls=100))
    first, second = desk.claim(1), desk.claim(2)
    desk.reserve(first)
    desk.reserve(second)
    outage = (call(cost_usd=None, tokens=None, outcome="judge_unavailable"),)
    until = LATE + timedelta(minutes=1)
    assert desk.stores.traces.postpone(first, until=until, cause=Cause.JUDGE_UNAVAILABLE, calls=outage)
    assert desk.stores.traces.shed(second, cause=Cause.BUDGET_SPENT)
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert desk.spent() == [(1, 0, pytest.approx(0), 0)]


def test_the_reservation_of_a_worker_that_died_returns_when_another_takes_over(engine):
    desk = Desk(engine, per_day(calls=4))
    dead = desk.claim()
    desk.reserve(dead)
    desk.clock.advance(seconds=200)
    again = desk.stores.traces.claim(dead.key)
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert desk.reserve(again) is Reservation.HELD
    assert desk.finish(dead, call()) is None
    assert desk.finish(again, call()) is EvaluationState.SCORED
    assert desk.spent() == [(2, 2_000, pytest.approx(0.02), 0)], "the dead one had paid, too"


def test_what_was_reserved_before_midnight_is_settled_on_that_day(engine):
    desk = Desk(engine, per_day(calls=4), now=NOON.replace(hour=23, minute=59, second=59))
    claimed = desk.claim()
    desk.reserve(claimed)
    desk.clock.advance(seconds=2)
    desk.finish(claimed, call())
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 0)]
    assert desk.reserve(desk.claim(2)) is Reservation.PACED, "an hour's share of 4 is none"


def test_an_unknown_price_counts_as_its_part_of_the_reservation_never_as_nothing(engine):
    desk = Desk(engine, per_day(usd=1.0))
    claimed = desk.claim()
    desk.reserve(claimed)
    desk.finish(claimed, call(cost_usd=None, tokens=None))
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 1)]


def test_a_budget_in_dollars_and_an_unknown_price_pause_the_judge_and_it_is_told(engine, caplog):
    desk = Desk(engine, per_day(usd=1.0))
    unpriced = WorstCase(calls=3, tokens=3_000, cost_usd=None)
    for number in (7, 8):
        with pytest.raises(JudgePausedError, match="price"):
            desk.reserve(desk.claim(number), unpriced)
        desk.clock.advance(seconds=1)
    state = PostgresJudgeStates(engine, clock=desk.clock).find(PAID, PAID_PRINT)
    assert "set `prices`" in state.pause_message
    assert read_paused(engine) == {(PAID, PAID_PRINT)}
    assert [record.message for record in caplog.records] == ["judge_model_paused"], "once"
    assert Desk(engine, per_day(calls=9)).reserve(desk.claim(2), unpriced) is Reservation.HELD


@pytest.mark.parametrize(
    ("hour", "shares", "most"),
    [(0, None, 1), (11, None, 12), (23, None, 24), (9, [0.0] * 9 + [0.5, 0.5] + [0.0] * 13, 12)],
)
def test_a_days_limit_is_spread_over_its_hours(engine, hour, shares, most):
    desk = Desk(engine, per_day(calls=24), now=NOON.replace(hour=hour))
    if shares is not None:
        with engine.begin() as connection:
            connection.execute(
                text(
                    "INSERT INTO judge_state (judge, fingerprint, hour_shares)"
                    " VALUES (:judge, :print, :shares)"
                ),
                {"judge": PAID, "print": PAID_PRINT, "shares": shares},
            )
    claimed = desk.claim()
    more = desk.reserve(claimed, WorstCase(calls=most + 1, tokens=1, cost_usd=None))
    assert more is (Reservation.SPENT if hour == LATE.hour else Reservation.PACED)
    assert desk.reserve(claimed, WorstCase(calls=most, tokens=1, cost_usd=None)) is Reservation.HELD


def test_the_share_of_an_hour_is_busy_while_held_then_paced_and_the_day_ends_in_spent(engine):
    desk = Desk(engine, per_day(calls=24), now=NOON.replace(hour=5))
    first, second = desk.claim(1), desk.claim(2)
    four = WorstCase(calls=4, tokens=1, cost_usd=None)
    assert desk.reserve(first, four) is Reservation.HELD
    assert desk.reserve(second, four) is Reservation.BUSY, "6 are this hour's, 4 of them held"
    desk.finish(first, *[call()] * 4)
    assert desk.reserve(second, four) is Reservation.PACED
    desk.clock.advance(seconds=2 * 3600)
    assert desk.reserve(second, four) is Reservation.HELD
    assert desk.reserve(desk.claim(3), WorstCase(calls=21, tokens=1, cost_usd=None)) is Reservation.SPENT


def test_a_spent_hour_is_spent_whatever_the_day_has(engine):
    desk = Desk(engine, per_day(calls=240), Limit(period=Period.HOUR, calls=3), now=NOON.replace(hour=5))
    first, second = desk.claim(1), desk.claim(2)
    assert desk.reserve(first) is Reservation.HELD
    desk.finish(first, call())
    assert desk.reserve(second) is Reservation.SPENT


def test_calls_that_end_after_their_hour_count_in_the_new_one(engine):
    desk = Desk(engine, per_day(calls=40), now=LATE.replace(minute=59))
    dead = desk.claim()
    desk.reserve(dead)
    desk.clock.advance(seconds=200)
    assert desk.finish(desk.stores.traces.claim(dead.key)) is EvaluationState.SCORED
    assert desk.finish(dead, call()) is None
    assert sum(calls for calls, *_ in desk.spent()) == 1
    assert sum(calls for calls, *_ in desk.spent(Period.HOUR)) == 1


def test_calls_of_a_judge_without_a_budget_are_counted_nowhere(engine):
    desk = Desk(engine)
    dead = desk.claim()
    desk.clock.advance(seconds=200)
    desk.stores.traces.claim(dead.key)
    assert desk.finish(dead, call()) is None
    assert desk.spent() == []


SENTENCE = "The torch runs for forty hours on one battery of the kind that is listed in the shop. "
"""Ten of them are about 190 tokens."""


@pytest.mark.parametrize(
    ("usd_per_day", "hour", "least"), [(5, 0, 16), (5, 11, 200), (1, 0, 3), (1, 5, 20), (20, 0, 64)]
)
def test_an_ordinary_budget_in_dollars_lets_many_traces_be_judged_at_once(engine, usd_per_day, hour, least):
    judge = LitellmJudge(JudgeOptions(name=PAID, kind="litellm", model="openai/gpt-5-mini"))
    aspects = needed_aspects(build_scorers(None), make_trace())
    trace = make_judged_trace(*[SENTENCE * 10] * 5)
    desk = Desk(engine, per_day(usd=usd_per_day), now=NOON.replace(hour=hour))
    worst = judge.estimate(trace, aspects)
    answers = [desk.reserve(desk.claim(number), worst) for number in range(least)]
    assert answers == [Reservation.HELD] * least


def test_many_at_once_never_hold_or_spend_more_than_the_limit(engine):
    desk = Desk(engine, per_day(calls=20), Limit(period=Period.HOUR, calls=20))
    claims = [desk.claim(number) for number in range(40)]
    judged = []

    def run(claimed):
        for _ in range(200):
            reservation = desk.reserve(claimed)
            if reservation is Reservation.HELD:
                judged.append(claimed)
                return desk.finish(claimed, call())
            if reservation is Reservation.SPENT:
                return desk.stores.traces.shed(claimed, cause=Cause.BUDGET_SPENT)
        raise AssertionError("never got its turn")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, claims))
    assert len(judged) == 18, "with 18 of 20 spent the worst case of 3 does not fit"
    assert desk.spent() == [(18, 18_000, pytest.approx(0.18), 0)]
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
