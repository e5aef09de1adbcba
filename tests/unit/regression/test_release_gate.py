"""What of two releases may be compared, and how."""

import numpy as np
import pytest

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import gather_counts
from ragsonde.regression.release_comparison import Verdict
from ragsonde.regression.release_gate import (
    Model,
    ReleaseScores,
    Way,
    find_strictest,
    gate_release,
    measure_clustering,
)

X, Y = Model("1", "print-x", 1), Model("1", "print-y", 1)
HOUR, DAY = 12, 288


def scores(*rows, strata=("all",)):
    """Counts of rows (block, stratum, bin, traces)."""
    return gather_counts(*zip(*rows, strict=True), strata=strata)


def gate(old, new, **options):
    return gate_release(ReleaseScores({X: old}), ReleaseScores({X: new}), **options)


@pytest.mark.parametrize(
    ("verdicts", "strictest"),
    [
        ((Verdict.NOT_WORSE, Verdict.UNDECIDED, Verdict.WORSE), Verdict.WORSE),
        ((Verdict.NOT_WORSE, Verdict.UNDECIDED), Verdict.UNDECIDED),
        ((Verdict.NOT_WORSE, Verdict.NOT_WORSE), Verdict.NOT_WORSE),
        ((), Verdict.UNDECIDED),
    ],
)
def test_the_strictest_verdict_is_that_of_all(verdicts, strictest):
    assert find_strictest(verdicts) is strictest


def test_a_share_that_grows_at_a_bad_hour_makes_no_release_worse():
    """Pooled, the new one would score .55 and the old one .95; in each hour they score the same."""
    old = scores((0, 0, 100, 900), (6 * HOUR, 0, 50, 100))
    new = scores((1, 0, 100, 100), (6 * HOUR + 3, 0, 50, 900))
    found = gate(old, new)
    assert (found.way, found.comparison.verdict) == (Way.SIDE_BY_SIDE, Verdict.NOT_WORSE)
    assert found.comparison.drop == 0.0
    assert "the same 2 hours" in found.why


def test_side_by_side_only_hours_count_in_which_both_had_traces():
    old = scores(*((hour * HOUR, 0, 0, 100) for hour in range(10)), (10 * HOUR, 0, 90, 300))
    new = scores((10 * HOUR + 5, 0, 90, 200), (11 * HOUR, 0, 90, 200))
    found = gate(old, new)
    assert found.way is Way.SIDE_BY_SIDE
    assert (found.comparison.traces_old, found.comparison.traces_new) == (300, 200)
    assert found.comparison.drop == 0.0


def test_where_most_new_traces_have_none_of_the_old_beside_them_it_is_held_to_the_old_ones_past():
    old = make_counts(days=8, per_block=2, mean=0.8, seed=1)
    new = make_counts(days=1, per_block=2, mean=0.5, first_day=8, seed=2)
    overlapping = make_counts(days=1, per_block=2, mean=0.5, first_day=7.9, seed=2)
    for found in (gate(old, new), gate(old, overlapping)):
        assert (found.way, found.comparison.verdict) == (Way.IN_TURN, Verdict.WORSE)
        assert "came while the old one had none: held to the old one's" in found.why
    # only what came before the new release
    assert gate(old, overlapping).comparison.traces_old == int(7.9 * DAY) * 2
    level = make_counts(days=3, per_block=2, mean=0.8, first_day=8, seed=2)
    assert gate(old, level).comparison.verdict is Verdict.NOT_WORSE


@pytest.mark.parametrize(("traces", "way"), [(499, None), (500, Way.IN_TURN)])
def test_a_past_that_is_too_short_decides_nothing(traces, way):
    old = scores((0, 0, 80, traces - 1), (7 * DAY - 1, 0, 80, 1))
    new = scores((7 * DAY, 0, 0, 1000))
    found = gate(old, new)
    assert found.way is way
    assert found.has_drop is (way is not None)
    if way is None:
        assert found.comparison.verdict is Verdict.UNDECIDED
        assert found.why.endswith("before it the old one had 499 in 7.0 days: expected 500 in 7 days")


def test_a_new_release_that_came_first_has_no_past_to_be_held_to():
    found = gate(scores((90 * HOUR, 0, 80, 900)), scores((0, 0, 10, 900)))
    assert (found.way, found.comparison.verdict) == (None, Verdict.UNDECIDED)
    assert "the old one had 0 in 0.0 days" in found.why


def test_a_judge_that_changed_between_the_releases_is_no_verdict():
    good, bad = scores((0, 0, 90, 500)), scores((1, 0, 10, 500))
    found = gate_release(ReleaseScores({X: good}), ReleaseScores({Y: bad}))
    assert (found.comparison.verdict, found.way, found.model) == (Verdict.UNDECIDED, None, Y)
    assert "the judge or the scorer changed between the releases" in found.why
    # a few scores by the judge of before do not stand for the rest
    few = scores((1, 0, 10, 60))
    assert gate_release(ReleaseScores({X: good}), ReleaseScores({X: few, Y: bad})).way is None
    # where the judge changed under both, the one that gave most of the new scores is compared
    both = gate_release(ReleaseScores({X: good, Y: good}), ReleaseScores({X: few, Y: bad}))
    assert (both.model, both.comparison.verdict) == (Y, Verdict.WORSE)
    assert both.comparison.traces_new == 500


@pytest.mark.parametrize(("scored", "failed", "way"), [(90, 10, Way.SIDE_BY_SIDE), (88, 12, None)])
def test_many_failed_judgements_on_one_side_are_no_verdict(scored, failed, way):
    old = ReleaseScores({X: scores((0, 0, 90, 100))})
    new = ReleaseScores({X: scores((0, 0, 10, scored))}, failed=failed)
    assert gate_release(old, new).way is way
    if way is None:
        found = gate_release(old, new)
        assert found.comparison.verdict is Verdict.UNDECIDED
        assert found.why.startswith("12% of the new release's judgements failed, 0% of the old one's")


def test_of_a_release_without_scores_it_is_said_which():
    some = ReleaseScores({X: scores((0, 0, 90, 100))})
    for old, new, named in ((some, ReleaseScores({}), "new"), (ReleaseScores({}, failed=3), some, "old")):
        found = gate_release(old, new)
        assert found.comparison.verdict is Verdict.UNDECIDED
        assert f"the {named}" in found.why


def test_few_traces_are_told_and_have_no_drop():
    found = gate(scores((0, 0, 90, 49)), scores((0, 0, 90, 100)))
    assert (found.way, found.has_drop) == (Way.SIDE_BY_SIDE, False)
    assert found.why.endswith("nothing is said before 50 traces of each")
    assert gate(scores((0, 0, 90, 50)), scores((0, 0, 90, 50))).has_drop


def test_where_hours_hold_few_traces_they_are_put_together():
    """In each hour the two have different topics, over the day the same."""
    kinds = [(hour, hour % 2) for hour in range(60)]
    old = scores(*((hour * HOUR, kind, 100, 1) for hour, kind in kinds), strata=("a", "b"))
    new = scores(*((hour * HOUR, 1 - kind, 0, 1) for hour, kind in kinds), strata=("a", "b"))
    assert gate(old, new).comparison.verdict is Verdict.WORSE


def test_the_chance_of_being_wrong_widens_the_interval():
    old, new = scores((0, 0, 90, 300), (0, 0, 10, 300)), scores((0, 0, 90, 300), (0, 0, 10, 300))
    wide, narrow = (gate(old, new, alpha=alpha).comparison.drop_upper for alpha in (0.001, 0.01))
    assert wide > narrow > 0


def test_sessions_are_seen_in_five_minutes_or_else_in_hours():
    dense = make_counts(days=2, per_block=10, seed=3)
    assert measure_clustering(dense) == fit_baseline(dense).clustering
    random = np.random.default_rng(4)
    by_hour = np.repeat(random.choice([20, 90], size=7 * 24), HOUR)
    sparse = gather_counts(
        np.arange(7 * DAY), np.zeros(7 * DAY, int), by_hour, np.ones(7 * DAY, int), strata=("all",)
    )
    # all twelve of an hour are alike, and 24 of 168 hours go for the means of the day's hours
    assert measure_clustering(sparse) == pytest.approx(12 * 168 / 144, rel=0.05)
    assert fit_baseline(sparse).clustering == 1.0


@pytest.mark.parametrize("bin_", [7, 29, 57, 80, 91])
def test_scores_that_are_all_equal_show_no_sessions(bin_):
    counts = scores(*((block, 0, bin_, 11 + block % 3) for block in range(30)))
    assert measure_clustering(counts) == 1.0
