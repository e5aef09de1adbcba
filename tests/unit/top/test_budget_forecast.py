"""How far a budget will go."""

from __future__ import annotations

import pytest

from ragsonde.budget_forecast import foresee_runs, foresee_share, measure_spent
from ragsonde_schemas.spending import Limit, Period, Spent

EVEN = (1 / 24,) * 24
MORNING = (0.0,) * 9 + (0.5, 0.25, 0.25) + (0.0,) * 12
DAY, HOUR = Period.DAY, Period.HOUR


@pytest.mark.parametrize(
    ("shares", "hour", "period", "expected"),
    [
        (None, 12, DAY, 1200),
        (EVEN, 12, DAY, 1200),
        (EVEN, 0, DAY, 2400),
        (MORNING, 10, DAY, 100),
        (MORNING, 9, DAY, 100),
        (None, 12, HOUR, 100),
        (EVEN, 23, HOUR, 100),
        (MORNING, 10, HOUR, 50),
        (MORNING, 11, HOUR, 100),
    ],
)
def test_what_is_to_come_follows_the_profile_of_the_week(shares, hour, period, expected):
    assert foresee_runs(100, shares, hour=hour, period=period) == pytest.approx(expected)


def foresee(spent, limit, *, runs):
    return foresee_share(limit, spent=spent, known=spent, runs=runs)


def test_a_budget_that_can_pay_half_of_what_is_to_come_says_so():
    spent = Spent(runs=100, calls=120, tokens=150_000, usd=1.0)
    limit = Limit(period=DAY, usd=2.0)
    assert foresee(spent, limit, runs=200) == pytest.approx(0.5)
    assert foresee(spent, limit, runs=50) == 1
    assert foresee(spent, Limit(period=DAY, usd=2.0, calls=132), runs=100) == pytest.approx(0.1)


def test_what_is_reserved_is_not_there_to_be_spent():
    spent = Spent(runs=100, calls=100, reserved_calls=50)
    assert foresee(spent, Limit(period=DAY, calls=200), runs=100) == pytest.approx(0.5)


def test_a_new_hour_is_foreseen_by_what_the_day_has_cost():
    day = Spent(runs=100, calls=200)
    limit = Limit(period=HOUR, calls=50)
    assert foresee_share(limit, spent=Spent(), known=day, runs=100) == pytest.approx(0.25)


def test_before_anything_was_spent_a_budget_says_nothing():
    assert foresee(Spent(), Limit(period=DAY, calls=1), runs=100) == 1


def test_how_much_is_spent_is_the_tightest_of_the_limits():
    spent = Spent(calls=50, tokens=10, usd=0.5, reserved_usd=0.25)
    assert measure_spent(spent, Limit(period=DAY, calls=200, usd=1.0)) == pytest.approx(0.75)
