"""Budgets over all workers, in Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import PAID, PAID_PRINT, make_result, make_trace, plan_paid
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.tables import JudgeSpendRow
from ragsonde_schemas.errors import Cause, JudgePausedError
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

WORST = WorstCase(calls=3, tokens=3_000, cost_usd=0.03)
LATE = NOON.replace(hour=23)
"""In the last hour of the day the whole of a day's limit may be spent."""


class Desk:
    """Evaluations of one paid judge, its budget, and what the table says."""

    def __init__(self, engine, *limits, now=LATE) -> None:
        self.engine = engine
        self.clock = FakeClock(now)
        self.stores = PostgresStores(self.clock, engine)
        self.limits = limits

    def budgets(self) -> PostgresBudgets:
        return PostgresBudgets(self.engine, clock=self.clock, limits={PAID: self.limits})

    def claim(self, number=1):
        trace = make_trace(f"t-{number}", answer=str(number), occurred_at=NOON)
        admission = self.stores.traces.admit(trace, (plan_paid(),))
        return self.stores.traces.claim(admission.pending[0])

    def reserve(self, claimed, worst=WORST) -> Reservation:
        return self.budgets().reserve(claimed, lambda: worst)

    def finish(self, claimed, *calls):
        result = make_result()
        assessment = result.assessment.model_copy(update={"calls": calls})
        return self.stores.traces.finish(claimed, result.model_copy(update={"assessment": assessment}))

    def spent(self, period=Period.DAY):
        row = JudgeSpendRow
        columns = (row.spent_calls, row.spent_tokens, row.spent_usd, row.unpriced_calls)
        return self._read(columns, period)

    def reserved(self, period=Period.DAY):
        row = JudgeSpendRow
        return self._read((row.reserved_calls, row.reserved_tokens, row.reserved_usd), period)

    def _read(self, columns, period):
        query = select(*columns).where(JudgeSpendRow.period == period.value)
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]


def call(cost_usd=0.01, tokens=(900, 100), outcome="ok") -> JudgeCall:
    tokens_in, tokens_out = tokens or (None, None)
    return JudgeCall(
        purpose="assess",
        model="m",
        outcome=outcome,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=cost_usd,
        seconds=0.1,
        reply="{}",
    )


def per_day(**limit) -> Limit:
    return Limit(period=Period.DAY, **limit)


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
    budgets = PostgresBudgets(engine, clock=desk.clock, limits={})

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
    assert desk.reserve(desk.claim(2)) is Reservation.SPENT, "an hour's share of 4 is none"


def test_an_unknown_price_counts_as_its_part_of_the_reservation_never_as_nothing(engine):
    desk = Desk(engine, per_day(usd=1.0))
    claimed = desk.claim()
    desk.reserve(claimed)
    desk.finish(claimed, call(cost_usd=None, tokens=None))
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 1)]


def test_a_budget_in_dollars_and_an_unknown_price_pause_the_judge(engine):
    desk = Desk(engine, per_day(usd=1.0))
    unpriced = WorstCase(calls=3, tokens=3_000, cost_usd=None)
    with pytest.raises(JudgePausedError, match="price"):
        desk.reserve(desk.claim(), unpriced)
    assert Desk(engine, per_day(calls=9)).reserve(desk.claim(2), unpriced) is Reservation.HELD


def test_a_superseded_run_gives_back_what_it_holds(engine):
    desk = Desk(engine, per_day(calls=100))
    claimed = desk.claim()
    desk.reserve(claimed)
    newer = make_trace("t-1", answer="another", occurred_at=NOON)
    assert desk.stores.traces.admit(newer, (plan_paid(),)).kind == "revision"
    assert desk.finish(claimed, call()) is EvaluationState.SUPERSEDED
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 0)]


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
    assert desk.reserve(claimed, WorstCase(calls=most + 1, tokens=1, cost_usd=None)) is Reservation.SPENT
    assert desk.reserve(claimed, WorstCase(calls=most, tokens=1, cost_usd=None)) is Reservation.HELD


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
