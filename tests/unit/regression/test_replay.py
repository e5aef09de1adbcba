"""Histories that are odd, and what is told of each: no crash, no storm, a defined outcome."""

import numpy as np
import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.alert_state import EventKind, Level
from ragsonde.regression.baseline import BaselineKind
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.replay import replay

DAY = 288


def tell(found):
    return [(str(event.kind), event.block // DAY) for event in found.events]


def a_fall(*, days_after=2, mean_after=0.6, strata=("",)):
    """Nine good days, then a fall."""
    return join_counts(
        make_counts(days=9, per_block=6, seed=1, strata=strata),
        make_counts(days=days_after, per_block=6, mean=mean_after, seed=2, first_day=9, strata=strata),
    )


def test_a_fall_is_told_with_where_it_began():
    found = replay(a_fall(strata=("a", "b")))
    assert tell(found) == [("warn", 9), ("page", 9)]
    page = found.events[1]
    assert abs(page.explanation.since - 9 * DAY) <= 2
    assert page.explanation.drop == pytest.approx(0.2, abs=0.1)
    assert page.evidence_days >= 365
    assert found.state.level is Level.PAGED


def test_a_fall_that_ends_is_resolved_and_a_second_one_pages_again():
    well = make_counts(days=3, per_block=6, seed=3, first_day=11)
    again = make_counts(days=1, per_block=6, mean=0.6, seed=4, first_day=14)
    found = replay(join_counts(a_fall(), well, again))
    assert tell(found) == [
        ("warn", 9), ("page", 9), ("resolve", 11), ("warn", 14), ("page", 14),
    ]  # fmt: skip
    assert abs(found.events[2].explanation.since - 11 * DAY) <= 3
    assert abs(found.events[4].explanation.since - 14 * DAY) <= 3


def test_a_quiet_month_tells_nothing():
    assert replay(make_counts(days=37, per_block=5, seed=5)).events == ()


def test_many_streams_need_more_evidence():
    alone, of_many = (replay(a_fall(), find_active=lambda _, n=n: n) for n in (1, 100_000))
    assert alone.events[-1].block < of_many.events[-1].block
    assert of_many.events[-1].evidence_days >= 365 * 100_000


def test_three_traces_a_day_are_too_few_and_are_watched_by_a_floor_alone():
    days = np.repeat(np.arange(120), 3)
    counts = count_blocks(days * 86_400 + np.tile([9e3, 4e4, 7e4], 120), np.where(days < 60, 0.9, 0.2))
    unwatched = replay(counts)
    assert (unwatched.events, unwatched.baseline) == ((), None)
    floored = replay(counts, floor=0.7)
    assert floored.baseline.kind is BaselineKind.FLOOR
    assert [kind for kind, _ in tell(floored)] == ["warn", "page"]
    assert 60 <= floored.events[1].block // DAY < 75


@pytest.mark.parametrize("value", [0.0, 1.0, 0.37])
def test_one_value_for_ever_tells_nothing(value):
    counts = count_blocks(np.arange(0, 40 * 86_400, 120.0), np.full(40 * 720, value))
    found = replay(counts)
    assert (found.events, found.state.level) == ((), Level.QUIET)
    assert found.baseline.is_watched.all() == (value > 0)


def test_all_ones_and_then_all_zeros_page_once():
    seconds = np.arange(0, 20 * 86_400, 120.0)
    found = replay(count_blocks(seconds, np.where(seconds < 10 * 86_400, 1.0, 0.0)))
    assert tell(found) == [("warn", 10), ("page", 10)]
    assert found.events[1].block <= 10 * DAY + 4


@pytest.mark.parametrize("idle_days", [7, 365])
def test_a_gap_changes_nothing(idle_days):
    before = make_counts(days=10, per_block=5, seed=6)
    after = make_counts(days=3, per_block=5, seed=7, first_day=10 + idle_days)
    with_gap = replay(join_counts(before, after))
    without = replay(join_counts(before, make_counts(days=3, per_block=5, seed=7, first_day=10)))
    assert with_gap.events == without.events == ()
    assert with_gap.state.log_evidence == pytest.approx(without.state.log_evidence, abs=1e-9)


def test_a_provisional_baseline_warns_and_the_pinned_one_takes_over():
    counts = join_counts(
        make_counts(days=3, per_block=6, seed=8),
        make_counts(days=2, per_block=6, mean=0.5, seed=9, first_day=3),
        make_counts(days=9, per_block=6, seed=10, first_day=5),
    )
    found = replay(counts)
    assert tell(found)[:2] == [("warn", 3), ("resolve", 5)]
    assert found.events[0].baseline.kind is BaselineKind.PROVISIONAL
    assert found.baseline.kind is BaselineKind.PINNED
    assert EventKind.PAGE not in [event.kind for event in found.events]


def test_a_baseline_of_one_day_can_be_asked_for():
    found = replay(
        join_counts(
            make_counts(days=2, per_block=6, seed=1),
            make_counts(days=1, per_block=6, mean=0.6, seed=2, first_day=2),
        ),
        baseline_days=1,
    )
    assert tell(found) == [("warn", 2), ("page", 2)]


def test_no_traces_are_no_history():
    found = replay(count_blocks([], []))
    assert (found.events, found.baseline) == ((), None)


def test_five_hundred_releases_in_a_month_are_one_stream():
    """A release is no part of a stream: what every one of them does badly is seen at the stream."""
    found = replay(a_fall(days_after=20, mean_after=0.7))
    assert [kind for kind, _ in tell(found)] == ["warn", "page"]


def test_a_history_shorter_than_its_baseline_has_none_pinned():
    assert replay(make_counts(days=4, per_block=6)).baseline.kind is BaselineKind.PROVISIONAL
    assert replay(make_counts(days=7, per_block=6)).baseline.kind is BaselineKind.PROVISIONAL
    assert replay(make_counts(days=7.01, per_block=6)).baseline.kind is BaselineKind.PINNED


def test_an_open_warning_outlives_the_change_to_the_pinned_baseline():
    counts = join_counts(
        make_counts(days=6.5, per_block=6, seed=8),
        make_counts(days=0.5, per_block=6, mean=0.5, seed=9, first_day=6.5),
        make_counts(days=2, per_block=6, seed=10, first_day=7),
    )
    found = replay(counts)
    assert tell(found) == [("warn", 6), ("resolve", 7)]
    assert found.events[1].baseline.kind is BaselineKind.PINNED
