"""The bets: their arithmetic, and that they are fair while there is no fall."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.regression.bets import STAKES, grow_logs

levels = st.floats(0.02, 0.98)
scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def slow_growth(value, level, *, is_rising=False):
    """By the formula, a bet at a time, from numbers written down here."""
    if is_rising:
        value, level = 1 - value, 1 - level
    ratio = (3 / 0.05) ** (1 / 11)
    stakes = [min(0.05 * ratio**k, 0.95 / (1 - level)) for k in range(12)]
    return [math.log(1 + stake * (level - value)) for stake in stakes]


@given(st.floats(0, 1), levels, st.integers(1, 50), st.booleans())
def test_growth_is_the_formula(value, level, count, is_rising):
    found = grow_logs(np.array([value]), np.array([count]), np.array([level]), is_rising=is_rising)
    expected = [count * one for one in slow_growth(value, level, is_rising=is_rising)]
    assert found[0].tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(scores, levels, st.booleans())
def test_a_bet_is_fair_where_the_mean_is_at_the_level(values, level, is_rising):
    mean = sum(values) / len(values)
    if (mean <= level) if is_rising else (mean >= level):
        growth = grow_logs(
            np.array(values), np.ones(len(values), int), np.full(len(values), level), is_rising=is_rising
        )
        assert np.all(np.exp(growth).mean(axis=0) <= 1 + 1e-9)


@given(st.floats(0, 1), levels, st.booleans())
def test_no_trace_takes_more_than_95_percent(value, level, is_rising):
    growth = grow_logs(np.array([value]), np.array([1]), np.array([level]), is_rising=is_rising)
    assert growth.min() >= math.log(0.05) - 1e-9


def test_there_are_twelve_from_a_twentieth_to_three():
    assert len(STAKES) == 12
    assert (STAKES[0], STAKES[-1]) == (pytest.approx(0.05), pytest.approx(3))
