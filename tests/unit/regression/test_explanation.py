"""What an alert says of a fall, against numbers worked out by hand."""

import math

import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import count_blocks, gather_counts
from ragsonde.regression.explanation import explain_fall, explain_recovery

WEEK = 7 * 288
STRATA = ("easy", "hard")


def make_week():
    """Two strata of 4,032 traces each: easy ones of mean .9, hard ones of mean .5."""
    blocks = [block for block in range(WEEK) for _ in range(4)]
    return gather_counts(blocks, [0, 0, 1, 1] * WEEK, [100, 80, 100, 0] * WEEK, [1] * 4 * WEEK, strata=STRATA)


def make_after(rows, *, blocks=range(WEEK, WEEK + 10)):
    """The same rows (stratum, hundredths, count) in each block."""
    listed = [(block, *row) for block in blocks for row in rows]
    return gather_counts(*zip(*listed, strict=True), strata=STRATA)


WELL = [(0, 100, 5), (0, 80, 5), (1, 100, 5), (1, 0, 5)]
FALLEN = [(0, 100, 2), (0, 80, 2), (0, 40, 6), (1, 100, 4), (1, 0, 6)]  # .6 and .4


def test_how_far_since_when_and_where():
    baseline = fit_baseline(make_week())
    after = join_counts(
        make_after(WELL, blocks=range(WEEK, WEEK + 50)),
        make_after(FALLEN, blocks=range(WEEK + 50, WEEK + 60)),
    )
    told = explain_fall(after, baseline, smallest_drop=0.02)
    assert told.since == WEEK + 50
    assert told.traces == 200
    assert told.mean == pytest.approx(0.5)
    assert told.drop == pytest.approx(0.2)  # .3 of the easy half, .1 of the hard half
    assert told.mix_shift == pytest.approx(0.0)
    variance = (0.1**2 + 0.5**2) / 2
    fallen = ((2 * 0.4**2 + 2 * 0.2**2 + 6 * 0.2**2) + (4 * 0.6**2 + 6 * 0.4**2)) / 20  # more than before
    half = 2.4 * math.sqrt(fallen / 200 + variance * 0.5**2 / (2 * WEEK) * 2)
    assert baseline.overdispersion == 1
    assert (told.drop_lower, told.drop_upper) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))
    assert [(one.name, round(one.drop, 9), one.traces) for one in told.worst_strata] == [
        ("easy", 0.3, 100),
        ("hard", 0.1, 100),
    ]


def test_harder_questions_alone_are_a_shift_of_the_mix():
    told = explain_fall(
        make_after([(0, 100, 1), (0, 80, 1), (1, 100, 4), (1, 0, 4)]),
        fit_baseline(make_week()),
        smallest_drop=0.02,
    )
    assert told.drop == pytest.approx(0.0, abs=1e-9)
    assert told.mix_shift == pytest.approx(0.7 - (0.2 * 0.9 + 0.8 * 0.5))


def test_drop_and_mix_shift_make_up_the_fall_of_the_mean():
    baseline = fit_baseline(make_week())
    rows = [(0, 100, 1), (0, 40, 3), (1, 100, 4), (1, 0, 7)]
    told = explain_fall(make_after(rows), baseline, smallest_drop=0.02)
    mean = (1 + 3 * 0.4 + 4) / 15
    assert told.mean == pytest.approx(mean)
    assert told.drop + told.mix_shift == pytest.approx(baseline.mean - mean)


def test_the_beginning_is_found_between_blocks_without_traces():
    baseline = fit_baseline(make_week())
    after = join_counts(
        make_after(WELL, blocks=range(WEEK, WEEK + 50, 7)),
        make_after(FALLEN, blocks=range(WEEK + 90, WEEK + 140, 7)),
    )
    assert explain_fall(after, baseline, smallest_drop=0.02).since == WEEK + 90


def test_a_recovery_is_told_since_it_began():
    baseline = fit_baseline(make_week())
    after = join_counts(
        make_after(FALLEN, blocks=range(WEEK, WEEK + 20)),
        make_after(WELL, blocks=range(WEEK + 20, WEEK + 30)),
    )
    told = explain_recovery(after, baseline, drop=0.2)
    assert (told.since, told.traces) == (WEEK + 20, 200)
    assert told.drop == pytest.approx(0.0, abs=1e-9)
    assert told.worst_strata == ()


def test_hours_of_the_day_are_not_named():
    baseline = fit_baseline(make_counts(days=7, per_block=4))
    told = explain_fall(
        make_counts(days=0.5, per_block=4, mean=0.5, first_day=7), baseline, smallest_drop=0.02
    )
    assert told.worst_strata == ()
    assert told.drop == pytest.approx(0.3, abs=0.05)


def test_at_most_three_strata_are_named():
    strata = tuple("abcde")
    baseline = fit_baseline(make_counts(days=7, per_block=5, strata=strata))
    told = explain_fall(
        make_counts(days=1, per_block=5, mean=0.5, strata=strata, first_day=7), baseline, smallest_drop=0.02
    )
    assert len(told.worst_strata) == 3


def test_no_traces_cannot_be_explained():
    with pytest.raises(ValueError, match="no traces"):
        explain_fall(count_blocks([], []), fit_baseline(make_week()), smallest_drop=0.02)
