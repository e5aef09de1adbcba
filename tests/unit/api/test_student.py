from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.api.student import find_interval, find_t

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
    # mean 0.5, standard deviation 0.1, three scores: 0.5 -+ 4.303 * 0.1 / sqrt(3)
    assert find_interval([0.4, 0.5, 0.6]) == pytest.approx((0.5 - 0.24843, 0.5 + 0.24843), abs=1e-4)


@pytest.mark.parametrize("raws", [[], [0.3]])
def test_below_two_scores_there_is_no_interval(raws):
    assert find_interval(raws) is None


def test_an_interval_never_leaves_the_range_of_scores():
    assert find_interval([0.0, 1.0]) == (0.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_the_mean_lies_in_its_interval(raws):
    lower, upper = find_interval(raws)
    mean = float(sum(map(Fraction, raws)) / len(raws))

    assert 0 <= lower <= mean + 1e-12
    assert mean - 1e-12 <= upper <= 1
