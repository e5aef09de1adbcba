"""Scores as counts of bins, and what their order has no part in."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.regression.blocks import ScoreOutOfRangeError, count_blocks, find_bins, gather_counts


@pytest.mark.parametrize("hundredths", range(101))
def test_a_hundredth_is_its_own_bin_though_floats_are_a_little_off(hundredths):
    assert (
        find_bins([hundredths / 100, hundredths * 0.01, 1 - (100 - hundredths) / 100]).tolist()
        == [hundredths] * 3
    )


@given(st.fractions(0, 1, max_denominator=97))
def test_a_value_is_rounded_up(value):
    assert find_bins([float(value)])[0] == math.ceil(value * 100)


@pytest.mark.parametrize("bad", [-0.001, 1.001, math.nan, math.inf, -math.inf])
def test_what_is_no_score_is_told_by_its_position(bad):
    with pytest.raises(ScoreOutOfRangeError, match="at position 2: a score from 0 to 1") as told:
        find_bins([0.0, 1.0, bad, 0.5])
    assert told.value.position == 2


def test_counts_are_by_block_stratum_and_bin():
    counts = count_blocks(
        [0, 299.9, 300, 10, 1], [0.5, 0.501, 1, 0.5, 0], stratum=[1, 1, 0, 1, 0], strata=("a", "b")
    )
    rows = list(zip(counts.block, counts.stratum, counts.bin, counts.count, strict=True))
    assert rows == [(0, 0, 0, 1), (0, 1, 50, 2), (0, 1, 51, 1), (1, 0, 100, 1)]
    assert counts.trace_count == 5
    assert counts.between(0, 1).trace_count == 4
    assert counts.between(1, 9).values.tolist() == [1.0]


def test_traces_delivered_twice_shuffled_over_four_workers_of_which_one_died_count_once():
    random = np.random.default_rng(7)
    seconds, scores, topic = random.random(900) * 9000, random.random(900), random.integers(0, 3, 900)
    once = count_blocks(seconds, scores, stratum=topic, strata="abc")
    delivered = random.permutation(np.concatenate([np.arange(900), random.integers(0, 900, 300)]))
    kept: dict[int, int] = {}
    for place, trace in enumerate(delivered.tolist()):
        kept[trace] = place % 4  # the store keeps one row a trace: the last delivery wins
    died = [trace for trace, worker in kept.items() if worker == 2][50:]
    kept |= dict.fromkeys(died, 3)  # what it had not committed is delivered again
    parts = [
        count_blocks(seconds[own], scores[own], stratum=topic[own], strata="abc")
        for own in ([t for t, w in kept.items() if w == worker] for worker in range(4))
    ]
    merged = gather_counts(
        *(
            np.concatenate([getattr(part, column) for part in parts])
            for column in ("block", "stratum", "bin", "count")
        ),
        strata="abc",
    )
    for column in ("block", "stratum", "bin", "count"):
        assert getattr(merged, column).tolist() == getattr(once, column).tolist()


def test_no_traces_are_no_rows():
    assert count_blocks([], []).trace_count == 0


def test_halves_are_exact():
    assert Fraction(float(count_blocks([0], [0.5]).values[0])) == Fraction(1, 2)
