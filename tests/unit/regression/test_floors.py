"""A floor beside a baseline: with its mix a mean below the floor is evidence, and one above is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline, make_floor
from ragsonde.regression.evidence import grow_blocks, sum_evidence
from ragsonde.regression.floors import lift_baseline

STRATA = ("a", "b")
WEEK = make_counts(days=7, per_block=4, mean=0.6, strata=STRATA, seed=1)
BASELINE = fit_baseline(WEEK)


def find_mean(baseline, values):
    return float(values @ baseline.traces / baseline.trace_count)


def find_evidence(mean, *, floor):
    counts = make_counts(days=3, per_block=4, mean=mean, strata=STRATA, seed=2)
    return float(sum_evidence(grow_blocks(counts, lift_baseline(BASELINE, floor))[1].sum(axis=0)))


@settings(max_examples=60, deadline=None)
@given(floor=st.floats(0.02, 1.0))
def test_the_mean_of_the_levels_is_the_floor_or_higher(floor):
    lifted = lift_baseline(BASELINE, floor)
    expected = max(min(floor, 0.98), find_mean(BASELINE, BASELINE.levels))
    assert find_mean(lifted, lifted.levels) == pytest.approx(expected, abs=1e-9)
    assert lifted.mean == pytest.approx(max(floor, BASELINE.mean), abs=1e-9)
    assert (lifted.levels >= BASELINE.levels).all()
    assert lifted.floor == floor


def test_a_floor_below_the_levels_changes_nothing():
    lifted = lift_baseline(BASELINE, 0.3)
    assert np.array_equal(lifted.levels, BASELINE.levels)
    assert np.array_equal(lifted.means, BASELINE.means)


@pytest.mark.parametrize("floor", [0.58, 0.7])
def test_a_mean_below_the_floor_is_evidence_and_one_above_is_none(floor):
    assert find_evidence(floor - 0.06, floor=floor) > 10
    assert find_evidence(floor + 0.06, floor=floor) < 0


def test_a_floor_beside_a_floor_changes_nothing():
    alone = make_floor(0.7, WEEK)
    assert lift_baseline(alone, 0.8) is alone
