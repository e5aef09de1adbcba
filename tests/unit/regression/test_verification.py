"""Whether a fall is over: as before, still lower, or not known yet."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.verification import Recovery, verify_recovery

BASELINE = fit_baseline(make_counts(days=7, per_block=4, seed=1))


def spell_out(counts):
    """The score of every trace."""
    return [
        value
        for value, n in zip(counts.values.tolist(), counts.count.tolist(), strict=True)
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("mean", "blocks", "expected"),
    [
        (0.8, 200, Recovery.RECOVERED),
        (0.6, 200, Recovery.NOT_YET),
        (0.8, 3, Recovery.TOO_FEW),
        (0.6, 1, Recovery.TOO_FEW),
    ],
)
def test_a_verdict_goes_by_mean_and_number(mean, blocks, expected):
    counts = make_counts(days=blocks / 288, per_block=4, mean=mean, seed=2)
    found = verify_recovery(BASELINE, counts)
    assert found.recovery is expected
    assert found.traces == counts.trace_count
    assert found.mean == pytest.approx(statistics.fmean(spell_out(counts)))
    assert found.mean_lower < found.mean < found.mean_upper
    assert found.drop == pytest.approx(BASELINE.mean - found.mean, abs=0.03)
    assert (found.traces_needed == 0) == (expected is not Recovery.TOO_FEW)


def test_the_interval_of_the_mean_is_its_own_and_not_that_of_the_drop():
    baseline = fit_baseline(make_counts(days=1, per_block=2, seed=1))
    counts = make_counts(days=7, per_block=20, mean=0.6, seed=2)
    found = verify_recovery(baseline, counts)
    scores = spell_out(counts)
    error = (statistics.pvariance(scores) * baseline.overdispersion / len(scores)) ** 0.5
    assert found.mean_upper - found.mean == pytest.approx(2.4 * error)
    assert found.mean - found.mean_lower == pytest.approx(2.4 * error)
    assert found.drop_upper - found.drop > 2 * (found.mean_upper - found.mean), "576 traces of before"


def test_scores_that_are_all_the_same_still_have_an_interval():
    found = verify_recovery(BASELINE, count_blocks(np.full(50, 301.0), np.full(50, 0.5)))
    assert found.mean_upper - 0.5 == pytest.approx(
        2.4 * (BASELINE.variance * BASELINE.overdispersion / 50) ** 0.5
    )


@pytest.mark.parametrize(("wrong", "pick"), [(Recovery.RECOVERED, min), (Recovery.NOT_YET, max)])
def test_asked_time_and_again_from_one_beginning_it_is_seldom_wrong(wrong, pick):
    mean = pick(BASELINE.levels.tolist())
    histories, misled = 100, 0
    for seed in range(histories):
        counts = make_counts(days=1, per_block=4, mean=mean, seed=1000 + seed)
        misled += any(
            verify_recovery(BASELINE, counts.between(0, end)).recovery is wrong for end in range(36, 289, 36)
        )
    assert misled <= 5  # of 100 at 1 % more are wrong less than once in a thousand such tests


def test_of_no_trace_nothing_is_known():
    found = verify_recovery(BASELINE, None)
    assert (found.recovery, found.traces, found.mean, found.traces_needed) == (
        Recovery.TOO_FEW,
        0,
        None,
        None,
    )
