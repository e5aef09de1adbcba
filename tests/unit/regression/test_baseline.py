"""Baselines against plain arithmetic, and when there is one."""

import math

import numpy as np
import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.arming import arm
from ragsonde.regression.baseline import BaselineKind, fit_baseline, make_floor
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.strata import HOURS, REST, choose_cells


def list_traces(counts):
    """(block, stratum, score) of every trace."""
    return [
        (int(block), counts.strata[stratum], bin_ / 100)
        for block, stratum, bin_, count in zip(
            counts.block, counts.stratum, counts.bin, counts.count, strict=True
        )
        for _ in range(count)
    ]


def slow_phi(traces, means, variance):
    """Chi-square of hours' residual means over its degrees of freedom, an hour at a time."""
    hours = {}
    for block, cell, score in traces:
        hours.setdefault(block // 12, []).append(score - means[cell])
    used = [residuals for residuals in hours.values() if len(residuals) >= 5]
    chi_square = sum((sum(r) / len(r)) ** 2 / (variance / len(r)) for r in used)
    return max(1.0, chi_square / (len(used) - len(means)))


def test_levels_are_the_mean_less_the_smallest_drop_less_two_standard_errors():
    counts = join_counts(
        make_counts(days=3, per_block=4, strata=("a", "b"), mean=0.8, seed=1),
        make_counts(days=1, per_block=6, strata=("a", "b"), mean=0.6, seed=2),
    )
    baseline = fit_baseline(counts, smallest_drop=0.03)
    traces = list_traces(counts)
    of = {name: [score for _, cell, score in traces if cell == name] for name in ("a", "b")}
    means = {name: sum(scores) / len(scores) for name, scores in of.items()}
    variance = sum((score - means[cell]) ** 2 for _, cell, score in traces) / len(traces)
    phi = slow_phi(traces, means, variance)
    assert phi > 1.2
    assert baseline.overdispersion == pytest.approx(phi)
    assert baseline.variance == pytest.approx(variance)
    errors = []
    for place, name in enumerate(baseline.cells.names[:2]):
        own = slow_phi([one for one in traces if one[1] == name], {name: means[name]}, variance)
        assert own != pytest.approx(phi)
        error = math.sqrt(variance * own / len(of[name]))
        errors.append(error)
        assert baseline.means[place] == pytest.approx(means[name])
        assert baseline.levels[place] == pytest.approx(means[name] - 0.03 - 2 * error)
    assert baseline.smallest_visible_drop == pytest.approx(0.03 + 2 * sum(errors) / 2, rel=0.01)


def test_a_stratum_without_a_cell_of_its_own_goes_to_the_rest_on_which_nothing_is_bet():
    counts = make_counts(days=4, per_block=2, strata=("a", "b"), mean=0.8)
    baseline = fit_baseline(counts)
    assert baseline.cells.names == ("a", "b", REST)
    assert baseline.is_watched.tolist() == [True, True, False]
    new = make_counts(days=1, per_block=2, strata=("b", "new"), mean=0.8)
    assert set(baseline.cells.assign(new).tolist()) == {1, 2}


def test_at_most_eight_strata_of_a_thousand_traces_are_told_apart():
    many = make_counts(days=4, per_block=9, strata=tuple("abcdefghi"))
    assert choose_cells(many).names == (*"abcdefgh", REST)
    uneven = count_blocks(
        [1.0] * 1999, [0.5] * 1999, stratum=[0] * 1000 + [1] * 999, strata=("large", "small")
    )
    assert choose_cells(uneven).names == ("large", REST)


@pytest.mark.parametrize("strata", [("",), tuple(f"topic {n}" for n in range(60))])
def test_without_strata_hours_of_the_day_are_shrunk_by_200_traces(strata):
    counts = make_counts(days=7, per_block=2, strata=strata, mean=0.8, seed=4)
    baseline = fit_baseline(counts)
    assert baseline.cells.names == HOURS
    scores = [score for _, _, score in list_traces(counts)]
    of_hour = [score for block, _, score in list_traces(counts) if block // 12 % 24 == 5]
    overall = sum(scores) / len(scores)
    assert baseline.means[5] == pytest.approx((sum(of_hour) + 200 * overall) / (len(of_hour) + 200))
    assert baseline.cells.assign(counts).max() == 23


def test_an_hour_without_traces_has_the_mean_of_all_and_a_wide_allowance():
    counts = count_blocks(
        np.arange(2000) % 3600 + 86400.0 * (np.arange(2000) % 7), [0.9] * 1000 + [0.7] * 1000
    )
    baseline = fit_baseline(counts)
    assert baseline.means[5] == pytest.approx(0.8)
    error = math.sqrt(baseline.variance * baseline.overdispersion / 200)
    assert baseline.levels[5] == pytest.approx(0.8 - 0.02 - 2 * error)


def test_independent_traces_have_a_phi_of_about_one():
    assert fit_baseline(make_counts(days=7, per_block=5, seed=5)).overdispersion < 1.3


def test_a_level_is_at_most_98_percent():
    baseline = fit_baseline(make_counts(days=7, per_block=5, mean=1.0), smallest_drop=0.001)
    assert set(baseline.levels.tolist()) == {0.98}


@pytest.mark.parametrize("mean", [0.0, 0.01])
def test_where_there_is_no_room_to_fall_nothing_is_bet(mean):
    baseline = fit_baseline(make_counts(days=7, per_block=5, mean=mean))
    assert not baseline.is_watched.any()
    assert baseline.smallest_visible_drop is None


def test_a_baseline_of_no_traces_is_refused():
    with pytest.raises(ValueError, match="no traces"):
        fit_baseline(count_blocks([], []))


@pytest.mark.parametrize(
    ("days", "per_block", "is_complete", "kind"),
    [
        (7, 2, True, BaselineKind.PINNED),
        (2, 2, False, BaselineKind.PROVISIONAL),
        (1, 9, False, None),  # not yet 24 hours apart
        (1.9, 1, False, None),  # 547 traces
        (1.9, 1, True, BaselineKind.PINNED),
        (1.7, 1, True, None),  # 489 traces
    ],
)
def test_a_stream_is_watched_once_its_baseline_tells_enough(days, per_block, is_complete, kind):
    counts = make_counts(days=days, per_block=per_block)
    armed = arm(counts, is_complete=is_complete)
    assert (armed and armed.kind) == kind
    floored = arm(counts, is_complete=is_complete, floor=0.6)
    assert floored.kind == (kind if kind is BaselineKind.PINNED else BaselineKind.FLOOR)


def test_a_floor_is_taken_as_it_is():
    floor = make_floor(0.6, count_blocks([], []))
    assert (floor.levels.tolist(), floor.variance, floor.overdispersion) == ([0.6], 0.25, 1.0)
    assert floor.mean == pytest.approx(0.6)
    assert floor.find_error(np.array([25.0]), variance=0.1) == pytest.approx(
        0.1
    )  # of 25 traces alone, at worst


def test_the_error_of_a_drop_goes_by_the_larger_variance_of_before_and_now():
    baseline = fit_baseline(make_counts(days=7, per_block=4, mean=0.95))
    traces = np.zeros(len(baseline.cells.names))
    traces[0] = 100.0
    own = baseline.variance / baseline.known[0]
    for now, variance in ((0.2, 0.2), (0.0, baseline.variance)):
        expected = math.sqrt(baseline.overdispersion * (variance / 100 + own))
        assert baseline.find_error(traces, variance=now) == pytest.approx(expected)


@pytest.mark.parametrize("bad", [0.0, 0.019, 1.01, math.nan])
def test_a_floor_that_leaves_no_room_is_refused(bad):
    with pytest.raises(ValueError, match=r"from 0\.02 to 1 was expected"):
        make_floor(bad, count_blocks([], []))
