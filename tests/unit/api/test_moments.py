"""Sums over any count of numbers."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.api.moments import Moments, Shift
from ragsonde.scoring.student import FEWEST, find_interval

SHARES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=FEWEST, max_size=50)


def sum_up(numbers):
    moments = Moments()
    for number in numbers:
        moments.add(number)
    return moments.summarise()


def test_mean_and_reach_of_known_numbers():
    # 2 4 4 4 5 5 7 9: mean 5, corrected sum of squares 32; t of 7 degrees 2.364624 (any table)
    found = sum_up([2, 4, 4, 4, 5, 5, 7, 9])
    assert (found.n, found.mean) == (8, 5)
    assert found.reach == pytest.approx(2.364624 * (32 / 7) ** 0.5 / 8**0.5, abs=1e-5)


def test_too_few_numbers_have_no_mean_or_no_reach():
    assert sum_up([]) == (0, None, None)
    assert sum_up([0.25]) == (1, 0.25, None)


def test_large_numbers_of_small_spread_keep_it():
    found = sum_up([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16])
    # corrected sum of squares 90, t of 3 degrees 3.182446
    assert found.reach == pytest.approx(3.182446 * 30**0.5 / 2, abs=1e-4)


@given(SHARES)
def test_the_interval_is_that_of_the_whole_list(numbers):
    found = sum_up(numbers)
    assert found.mean == pytest.approx(fmean(numbers))
    if found.reach < 1e-6:  # equal numbers have an interval of another kind
        return
    interval = find_interval(fmean(numbers), deviation=stdev(numbers), n=len(numbers))
    assert max(0, found.mean - found.reach) == pytest.approx(interval.lower, abs=1e-9)
    assert min(1, found.mean + found.reach) == pytest.approx(interval.upper, abs=1e-9)


def test_a_change_needs_both():
    shift = Shift()
    for before, after in ((0.5, 0.75), (None, 1.0), (0.25, None), (None, None)):
        shift.add(before, after)
    assert [part.summarise().n for part in (shift.before, shift.after, shift.change)] == [2, 2, 1]
    assert shift.change.summarise().mean == 0.25
