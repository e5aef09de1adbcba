"""Releases beside each other and one after the other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import count_blocks, gather_counts
from ragsonde.regression.release_comparison import (
    Verdict,
    compare_in_turn,
    compare_side_by_side,
    find_half_width,
)

NOTHING = count_blocks([], [])


def a_release(*, days, mean, seed, strata=("",)):
    return make_counts(days=days, per_block=10, mean=mean, seed=seed, strata=strata)


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.8, Verdict.NOT_WORSE), (0.9, Verdict.NOT_WORSE), (0.7, Verdict.WORSE)]
)
def test_with_enough_traces_there_is_a_verdict(mean, verdict):
    found = compare_side_by_side(
        a_release(days=7, mean=0.8, seed=1), a_release(days=7, mean=mean, seed=2), overdispersion=1.0
    )
    assert found.verdict is verdict
    assert found.drop == pytest.approx(0.8 - mean, abs=0.02)
    assert found.drop_lower < 0.8 - mean < found.drop_upper
    assert found.traces_needed == 0


def test_with_few_traces_it_says_how_many_are_needed():
    few = compare_side_by_side(
        a_release(days=0.1, mean=0.8, seed=3), a_release(days=0.1, mean=0.8, seed=4), overdispersion=1.0
    )
    assert few.verdict is Verdict.UNDECIDED
    assert few.drop_lower < 0 < few.drop_upper
    assert few.traces_needed > few.traces_new
    worse = compare_side_by_side(
        a_release(days=0.05, mean=0.8, seed=3), a_release(days=0.05, mean=0.72, seed=4), overdispersion=1.0
    )
    assert worse.verdict is Verdict.UNDECIDED
    more = worse.traces_needed
    again = compare_side_by_side(
        *(
            gather_counts(one.block, one.stratum, one.bin, one.count * (140 + more) // 140 + 1, strata=("",))
            for one in (a_release(days=0.05, mean=0.8, seed=3), a_release(days=0.05, mean=0.72, seed=4))
        ),
        overdispersion=1.0,
    )
    assert again.verdict is not Verdict.UNDECIDED


@pytest.mark.parametrize(("old", "new"), [(NOTHING, NOTHING), (a_release(days=1, mean=0.8, seed=1), NOTHING)])
def test_of_no_traces_nothing_is_said(old, new):
    found = compare_side_by_side(old, new, overdispersion=1.0)
    assert (found.verdict, found.traces_needed) == (Verdict.UNDECIDED, None)
    assert (found.drop_lower, found.drop_upper) == (-1.0, 1.0)


def test_strata_are_compared_each_with_itself():
    """The new release gets the hard questions, and answers each kind as well as the old one."""
    rows = {"old": [(0, 100, 900), (1, 50, 100)], "new": [(0, 100, 100), (1, 50, 900)]}
    old, new = (
        gather_counts([0, 0], *zip(*listed, strict=True), strata=("easy", "hard")) for listed in rows.values()
    )
    found = compare_side_by_side(old, new, overdispersion=1.0)
    assert found.drop == 0.0
    # the weights of strata are n m / (n + m): 90 each, of 900 and 100
    assert found.drop_upper == pytest.approx(find_half_width(180, spread=1 / 2000, alpha=0.01))


def test_strata_of_one_release_alone_say_nothing():
    old = gather_counts([0], [0], [100], [500], strata=("a", "b"))
    new = gather_counts([0], [1], [0], [500], strata=("a", "b"))
    assert compare_side_by_side(old, new, overdispersion=1.0).verdict is Verdict.UNDECIDED


def test_the_half_width_is_the_one_sided_asymptotic_confidence_sequence():
    alpha, variance, traces = 0.01, 0.09, 800
    rho2 = (-2 * math.log(2 * alpha) + math.log(-2 * math.log(2 * alpha)) + 1) / (500 / 4 / variance)
    t = traces / variance  # information in units of variance 1
    inner = math.log(1 + math.sqrt(t * rho2 + 1) / (2 * alpha))
    expected = math.sqrt(2 * (t * rho2 + 1) / (t**2 * rho2) * inner)
    assert find_half_width(traces, spread=variance, alpha=alpha) == pytest.approx(expected)


@given(st.floats(60, 1e6), st.floats(0.01, 0.5))
def test_more_traces_make_it_narrower_and_it_is_wider_than_at_one_time_only(known, spread):
    half = find_half_width(known, spread=spread, alpha=0.01)
    assert find_half_width(known * 1.5, spread=spread, alpha=0.01) < half
    assert half > 2.326 * math.sqrt(spread / known)


def test_asked_all_the_time_equal_releases_are_seldom_called_worse():
    random = np.random.default_rng(11)
    wrong = 0
    for _ in range(150):
        old, new = (random.random((2, 3000)) < 0.8).astype(float)
        n = np.arange(50, 3001)
        drops = (np.cumsum(old) - np.cumsum(new))[49:] / n
        halves = [find_half_width(one / 2, spread=0.16, alpha=0.01) for one in n.tolist()]
        wrong += bool((drops > halves).any())
    assert wrong <= 5  # of 150 with a chance of .01 each, more come once in 250 times


@pytest.mark.parametrize(("mean", "verdict"), [(0.8, Verdict.NOT_WORSE), (0.7, Verdict.WORSE)])
def test_one_release_after_another_is_held_to_the_old_levels(mean, verdict):
    old = fit_baseline(a_release(days=7, mean=0.8, seed=5, strata=("a", "b")))
    new = make_counts(days=5, per_block=10, mean=mean, seed=6, strata=("a", "b"), first_day=7)
    found = compare_in_turn(old, new)
    assert found.verdict is verdict
    assert found.drop == pytest.approx(0.8 - mean, abs=0.02)
    assert found.drop_lower < 0.8 - mean < found.drop_upper
    early = compare_in_turn(old, new.between(7 * 288, 7 * 288 + 4))
    assert early.verdict is Verdict.UNDECIDED


def test_a_release_that_is_bad_from_its_first_trace_is_found_by_comparison():
    old = fit_baseline(a_release(days=7, mean=0.8, seed=5))
    assert (
        compare_in_turn(old, make_counts(days=0.2, per_block=10, mean=0.4, first_day=7)).verdict
        is Verdict.WORSE
    )


def test_of_two_releases_a_day_for_a_month_none_is_called_worse_and_none_hides_a_fall():
    history = make_counts(days=37, per_block=10, mean=0.8, seed=8)
    old = fit_baseline(history.between(0, 7 * 288))
    verdicts = [
        compare_in_turn(old, history.between(first, first + 144)).verdict
        for first in range(2016, 37 * 288, 144)
    ]
    assert len(verdicts) == 60
    assert Verdict.WORSE not in verdicts
    fallen = make_counts(days=0.5, per_block=10, mean=0.7, seed=9, first_day=20)
    assert compare_in_turn(old, fallen).verdict is Verdict.WORSE


def test_a_new_release_without_traces_or_an_old_one_without_room_leaves_it_open():
    assert (
        compare_in_turn(fit_baseline(a_release(days=7, mean=0.8, seed=5)), NOTHING).verdict
        is Verdict.UNDECIDED
    )
    bottom = fit_baseline(a_release(days=7, mean=0.0, seed=5))
    found = compare_in_turn(bottom, make_counts(days=1, per_block=10, mean=0.0, first_day=7))
    assert (found.verdict, found.traces_needed) == (Verdict.UNDECIDED, None)
