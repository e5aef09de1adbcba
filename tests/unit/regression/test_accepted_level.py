"""A level that was accepted is what its traces score, by the kinds of traces of the baseline before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.accepted_level import move_baseline
from ragsonde.regression.baseline import BaselineKind, fit_baseline
from ragsonde.regression.evidence import grow_blocks, sum_evidence

WEEK = make_counts(days=7, per_block=4, strata=("a", "b"), seed=1)
BEFORE = fit_baseline(WEEK)


@settings(max_examples=25, deadline=None)
@given(
    mean=st.floats(0.3, 0.95),
    blocks=st.integers(10, 600),
    seed=st.integers(0, 99),
)
def test_its_mean_is_that_of_the_traces_however_many(mean, blocks, seed):
    counts = make_counts(days=blocks / 288, per_block=3, mean=mean, strata=("a", "b"), seed=seed)
    moved = move_baseline(BEFORE, counts)
    assert moved.mean == pytest.approx(float(counts.count @ counts.values / counts.trace_count), abs=1e-9)
    assert moved.trace_count == counts.trace_count
    assert (moved.kind is BaselineKind.PINNED) == (counts.trace_count >= 500)
    assert moved.cells == BEFORE.cells
    assert moved.overdispersion >= BEFORE.overdispersion
    assert (moved.levels <= moved.means).all()


def test_of_few_traces_levels_are_lower_than_of_many():
    fell = make_counts(days=7, per_block=4, mean=0.6, strata=("a", "b"), seed=2)
    few, many = (move_baseline(BEFORE, fell.between(0, end)) for end in (10, 2016))
    assert few.smallest_visible_drop > many.smallest_visible_drop
    assert many.smallest_visible_drop < 0.06


def test_a_stratum_that_fell_alone_is_low_and_the_other_as_before():
    hard = make_counts(days=4, per_block=4, mean=0.3, strata=("a",), seed=3)
    easy = make_counts(days=4, per_block=4, mean=0.8, strata=("a",), seed=4)
    counts = join_counts(
        type(hard)(("a", "b"), hard.block, hard.stratum, hard.bin, hard.count),
        type(easy)(("a", "b"), easy.block, easy.stratum + 1, easy.bin, easy.count),
    )
    moved = move_baseline(BEFORE, counts)
    means = dict(zip(moved.cells.names, moved.means.tolist(), strict=True))
    assert means["a"] == pytest.approx(0.3, abs=0.03)
    assert means["b"] == pytest.approx(0.8, abs=0.03)


def test_more_of_the_same_is_no_evidence_and_less_is():
    level = make_counts(days=1, per_block=4, mean=0.6, strata=("a", "b"), seed=5)
    moved = move_baseline(BEFORE, level)
    same = make_counts(days=7, per_block=4, mean=0.6, strata=("a", "b"), seed=6)
    less = make_counts(days=1, per_block=4, mean=0.45, strata=("a", "b"), seed=7)

    def find_evidence(counts):
        return float(sum_evidence(np.asarray(grow_blocks(counts, moved)[1].sum(axis=0))))

    assert find_evidence(same) < 0
    assert find_evidence(less) > 10


def test_no_trace_makes_no_baseline():
    with pytest.raises(ValueError, match="no traces"):
        move_baseline(BEFORE, WEEK.between(0, 0))
