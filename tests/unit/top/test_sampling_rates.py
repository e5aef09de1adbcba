"""How the rate of an hour is chosen, and what a budget can pay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.sampling import RateCause, choose_rate, foresee_share, foresee_traces, measure_spent
from ragsonde_schemas.spending import Limit, Period, Spent

EVEN = (1 / 24,) * 24
RATES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("configured", "floor", "last_hour", "expected"),
    [
        (0.05, None, 1000, (0.05, RateCause.CONFIGURED)),
        (0.05, 30, 1000, (0.05, RateCause.CONFIGURED)),
        (0.05, 30, 100, (0.3, RateCause.FLOOR)),
        (0.05, 30, 10, (1.0, RateCause.FLOOR)),
        (0.05, 30, 0, (0.05, RateCause.CONFIGURED)),
    ],
)
def test_a_floor_raises_the_rate_where_too_few_would_be_judged(configured, floor, last_hour, expected):
    assert choose_rate(configured, floor=floor, last_hour=last_hour) == pytest.approx(expected)


@given(RATES, st.integers(1, 10_000), st.integers(0, 10_000), st.floats(0, 5))
def test_a_rate_is_a_share_and_a_budget_never_raises_it(configured, floor, last_hour, share):
    free = choose_rate(configured, floor=floor, last_hour=last_hour)
    bound = choose_rate(configured, floor=floor, last_hour=last_hour, affordable_share=share)
    assert configured <= free.value <= 1
    assert 0 <= bound.value <= free.value
    assert (bound.cause is RateCause.BUDGET) == (share < 1)


@pytest.mark.parametrize(
    ("shares", "hour", "expected"),
    [
        (None, 12, 1200),
        (EVEN, 12, 1200),
        (EVEN, 0, 2400),
        ((0.0,) * 9 + (0.5, 0.25, 0.25) + (0.0,) * 12, 10, 100),
        ((0.0,) * 9 + (0.5, 0.25, 0.25) + (0.0,) * 12, 9, 100),
    ],
)
def test_what_is_to_come_follows_the_profile_of_the_week(shares, hour, expected):
    assert foresee_traces(100, shares, hour=hour) == pytest.approx(expected)


def test_a_budget_that_can_pay_half_of_what_is_to_come_says_so():
    spent = Spent(runs=100, calls=120, tokens=150_000, usd=1.0)
    limit = Limit(period=Period.DAY, usd=2.0)
    assert foresee_share(spent, limit, runs=200) == pytest.approx(0.5)
    assert foresee_share(spent, limit, runs=50) == 1
    assert foresee_share(spent, Limit(period=Period.DAY, usd=2.0, calls=132), runs=100) == pytest.approx(0.1)


def test_what_is_reserved_is_not_there_to_be_spent():
    spent = Spent(runs=100, calls=100, reserved_calls=50)
    assert foresee_share(spent, Limit(period=Period.DAY, calls=200), runs=100) == pytest.approx(0.5)


def test_before_anything_was_spent_a_budget_says_nothing():
    assert foresee_share(Spent(), Limit(period=Period.DAY, calls=1), runs=100) == 1


def test_how_much_is_spent_is_the_tightest_of_the_limits():
    spent = Spent(calls=50, tokens=10, usd=0.5, reserved_usd=0.25)
    assert measure_spent(spent, Limit(period=Period.DAY, calls=200, usd=1.0)) == pytest.approx(0.75)
