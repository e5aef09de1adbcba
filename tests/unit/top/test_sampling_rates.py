"""How the rate of an hour is chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.sampling import RateCause, choose_rate

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
