from fractions import Fraction
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.student import FEWEST, find_interval, find_t

# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975
TABLE = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    9: 2.262,
    10: 2.228,
    19: 2.093,
    29: 2.045,
    30: 2.042,
    59: 2.001,
    60: 2.000,
    99: 1.984,
    100: 1.984,
}


@pytest.mark.parametrize(("degrees", "expected"), TABLE.items())
def test_the_quantile_is_that_of_the_printed_table(degrees, expected):
    assert find_t(degrees) == pytest.approx(expected, abs=5e-4)


def test_sum_and_expansion_meet():
    assert find_t(1000) == pytest.approx(find_t(1001), abs=1e-5)
    assert find_t(1000) > find_t(1001) > find_t(1_000_000) > 1.959963


def test_an_interval_by_hand():
    # t of 24 degrees 2.064 (the same table): 0.5 -+ 2.064 * 0.1 / 5
    found = find_interval(0.5, deviation=0.1, n=25)
    assert found == pytest.approx((0.5 - 0.04128, 0.5 + 0.04128), abs=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, FEWEST - 1])
def test_few_scores_have_no_interval(n):
    assert find_interval(0.5, deviation=0.1, n=n) is None
    assert find_interval(1.0, deviation=0.0, n=n) is None


def test_an_unknown_spread_has_no_interval():
    assert find_interval(0.5, deviation=None, n=100) is None


def test_an_interval_never_leaves_the_range_of_scores():
    assert find_interval(0.5, deviation=0.513, n=FEWEST).lower > 0
    assert find_interval(0.98, deviation=0.2, n=FEWEST).upper == 1.0
    assert find_interval(0.02, deviation=0.2, n=FEWEST).lower == 0.0


@pytest.mark.parametrize(
    ("mean", "expected"),
    # of 30 equal scores fewer than one in ten of all differ: Hanley and Lippman-Hand give 3/n
    [(1.0, (0.9, 1.0)), (0.0, (0.0, 0.1)), (0.5, (0.45, 0.55))],
)
def test_equal_scores_do_not_mean_that_all_are(mean, expected):
    assert find_interval(mean, deviation=0.0, n=30) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=FEWEST, max_size=50))
def test_the_mean_lies_in_its_interval(raws):
    lower, upper = find_interval(fmean(raws), deviation=stdev(raws), n=len(raws))
    mean = float(sum(map(Fraction, raws)) / len(raws))

    assert 0 <= lower <= mean + 1e-12
    assert mean - 1e-12 <= upper <= 1
