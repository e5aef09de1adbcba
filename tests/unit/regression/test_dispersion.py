"""phi against numbers worked out by hand."""

import numpy as np
import pytest

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.dispersion import measure_cells, measure_overdispersion


def make_hours(*hours):
    """The scores of each hour, all in its first block."""
    seconds = [hour * 3600.0 for hour, scores in enumerate(hours) for _ in scores]
    return count_blocks(seconds, [score for scores in hours for score in scores])


def measure(counts, *, variance=0.25, fitted=1, **given):
    return measure_overdispersion(
        counts, np.full(counts.bin.size, 0.5), variance=variance, fitted=fitted, **given
    )


def test_phi_is_chi_square_over_its_degrees_of_freedom():
    # residual means .5, -.5 and 0 of 6, 8 and 10 traces: (6 * .25 + 8 * .25) / .25 = 14, over 2
    assert measure(make_hours([1] * 6, [0] * 8, [1, 0] * 5)) == pytest.approx(7)


def test_hours_of_fewer_than_five_traces_are_left_out():
    assert measure(make_hours([1] * 6, [0] * 8, [1, 0] * 5, [1] * 4)) == pytest.approx(7)
    assert measure(make_hours([1] * 6, [0] * 8, [1, 0] * 5, [1] * 5)) == pytest.approx(19 / 3)


def test_phi_is_at_least_one():
    assert measure(make_hours([1, 0] * 5, [1, 0] * 5, [1, 0] * 5)) == 1.0


def test_where_nothing_can_be_told_it_is_one():
    assert measure(make_hours([1] * 6)) == 1.0
    assert measure(make_hours([1] * 6, [0] * 6), variance=0.0) == 1.0
    assert measure(count_blocks([], [])) == 1.0


@pytest.mark.parametrize("value", [0.0, 0.29, 0.37, 0.7, 1.0])
def test_of_one_value_for_ever_it_is_one(value):
    counts = make_counts(days=7, per_block=3)
    same = count_blocks(
        np.repeat(counts.block, counts.count.astype(int)) * 300.0, [value] * int(counts.trace_count)
    )
    baseline = fit_baseline(same)
    assert (baseline.overdispersion, baseline.clustering) == (1.0, 1.0)


def test_blocks_can_be_looked_at_instead_of_hours():
    counts = count_blocks([0.0] * 5 + [300.0] * 5 + [3600.0] * 10, [1] * 5 + [0] * 5 + [1, 0] * 5)
    assert measure(counts) == 1.0
    assert measure(counts, blocks=1) == pytest.approx((5 + 5) / 2)


def make_days(scores_of_hour, *, hours=25):
    """Traces of two strata: what each scores in an hour by its number."""
    seconds, scores, strata = [], [], []
    for hour in range(hours):
        for stratum, values in enumerate(scores_of_hour(hour)):
            seconds += [hour * 3600.0] * len(values)
            scores += values
            strata += [stratum] * len(values)
    return count_blocks(seconds, scores, stratum=strata, strata=("a", "b"))


def measure_own(counts, *, overall=3.0):
    return measure_cells(
        counts, counts.stratum, np.full(counts.bin.size, 0.5), variance=0.25, overall=overall, size=2
    )


def test_each_cell_has_the_phi_of_its_own_hours():
    # a: residual means .5 and -.5 in turn, of 8 traces: 8 * .25 / .25 an hour, 25 hours over 24; b: none
    counts = make_days(lambda hour: ([hour % 2] * 8, [1, 0] * 4))
    assert measure_own(counts) == pytest.approx([8 * 25 / 24, 1.0])


def test_a_wander_that_all_share_counts_once_for_a_small_cell():
    # residual means .25 and -.25 in turn, of 16 and of 8 traces: 16 * .0625 / .25 and half of it an hour
    counts = make_days(
        lambda hour: ([hour % 2] * 12 + [1 - hour % 2] * 4, [hour % 2] * 6 + [1 - hour % 2] * 2)
    )
    assert measure_own(counts) == pytest.approx([4 * 25 / 24, 2 * 25 / 24])


def test_a_cell_of_too_few_hours_has_the_phi_of_all():
    counts = make_days(lambda hour: ([hour % 2] * 8, [1] * 8 if hour else [1] * 4))
    assert measure_own(counts) == pytest.approx([8 * 25 / 24, 3.0])
    assert measure_own(count_blocks([], [], stratum=[], strata=("a", "b"))) == pytest.approx([3.0, 3.0])
