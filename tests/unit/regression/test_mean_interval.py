"""The interval of a mean is that of textbooks, wider where hours differ, and none of a few scores."""

from __future__ import annotations

import numpy as np
import pytest

from ragsonde.regression.mean_interval import LEAST_SCORES, bound_mean

SCORES = np.random.default_rng(7).beta(4, 2, size=400)


def bound(scores, *, overdispersion=1.0):
    total, squares = float(scores.sum()), float(scores @ scores)
    return bound_mean(len(scores), total=total, squares=squares, overdispersion=overdispersion)


def test_it_is_the_mean_with_so_many_standard_errors():
    half = 2.4 * SCORES.std(ddof=1) / np.sqrt(len(SCORES))
    found = bound(SCORES)
    assert found.lower == pytest.approx(SCORES.mean() - half)
    assert found.upper == pytest.approx(SCORES.mean() + half)


def test_where_hours_differ_it_is_wider():
    usual, wide = bound(SCORES), bound(SCORES, overdispersion=4.0)
    assert wide.upper - wide.lower == pytest.approx(2 * (usual.upper - usual.lower))


def test_of_a_few_scores_there_is_none():
    assert bound(SCORES[: LEAST_SCORES - 1]) is None
    assert bound(SCORES[:LEAST_SCORES]) is not None


def test_it_stays_on_the_scale_and_equal_scores_have_no_width():
    near_one = np.array([1.0] * 19 + [0.5])
    assert bound(near_one).upper == 1.0
    assert bound(1 - near_one).lower == 0.0
    assert bound(np.full(1000, 0.1)) == pytest.approx((0.1, 0.1), abs=1e-6)
