"""Whose traces a rolling baseline is of, and what it sees and does not see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.baseline import BaselineKind
from ragsonde.regression.options import BaselineChoice, RegressionOptions
from ragsonde.regression.replay import replay, replay_rolling
from ragsonde.regression.rolling import Window, find_fallen, find_window, roll

DAY = 288


@given(begun=st.integers(0, 10**7), days=st.integers(7, 4_000))
def test_a_window_has_seven_days_and_ends_a_day_ago(begun, days):
    first = begun + days * DAY
    since, until = find_window(first, begun=begun)
    assert until - since == 7 * DAY
    assert since >= begun
    assert first - until == (DAY if days > 7 else 0), "the day after the first week has no day in between"


@given(stretches=st.lists(st.tuples(st.integers(-5, 300), st.integers(0, 200)).map(lambda s: (s[0], sum(s)))))
def test_what_is_left_out_is_no_block_of_a_stretch_and_nothing_else(stretches):
    counts = make_counts(days=1, per_block=1)
    kept = counts.without(stretches).block.tolist()
    assert kept == [
        block for block in range(DAY) if not any(first <= block < end for first, end in stretches)
    ]


def test_a_told_fall_is_left_out_and_too_few_traces_make_none():
    well = make_counts(days=8, per_block=4, seed=1)
    fallen = make_counts(days=1, per_block=4, mean=0.3, first_day=8, seed=2)
    counts = join_counts(well, fallen)
    window = Window(2 * DAY, 9 * DAY)
    with_it = roll(counts, window, fallen=())
    without = roll(counts, window, fallen=[find_fallen(8 * DAY + 20, 9 * DAY - 1)])
    assert (with_it.kind, without.kind) == (BaselineKind.ROLLING, BaselineKind.ROLLING)
    assert with_it.mean == pytest.approx((6 * 0.8 + 0.3) / 7, abs=0.01)
    assert without.mean == pytest.approx(0.8, abs=0.01)
    assert roll(counts, Window(0, 124), fallen=()) is None


def test_a_sudden_fall_is_warned_of_and_never_paged():
    counts = join_counts(
        make_counts(days=10, per_block=4, seed=1),
        make_counts(days=2, per_block=4, mean=0.5, first_day=10, seed=2),
    )
    assert [event.kind for event in replay_rolling(counts).events] == [EventKind.WARN]
    assert EventKind.PAGE in [event.kind for event in replay(counts).events]


def test_a_fall_that_lasts_stays_open():
    counts = join_counts(
        make_counts(days=10, per_block=4, seed=1),
        make_counts(days=14, per_block=4, mean=0.6, first_day=10, seed=2),
    )
    found = replay_rolling(counts)
    assert [event.kind for event in found.events] == [EventKind.WARN]
    assert found.baseline.mean == pytest.approx(0.8, abs=0.01), "it does not follow the fall"


def test_a_slow_decay_is_seen_by_a_pinned_baseline_alone():
    days = (
        make_counts(days=1, per_block=20, mean=0.8 - 0.003 * max(day - 7, 0), first_day=day, seed=day)
        for day in range(47)
    )
    counts = join_counts(*days)
    assert replay_rolling(counts).events == ()
    assert replay(counts).events != ()


def test_what_names_the_app_counts_before_what_names_the_scorer():
    options = RegressionOptions(
        baselines={
            "faithfulness": BaselineChoice.ROLLING,
            "faithfulness/shop": BaselineChoice.PINNED,
            "other/default": BaselineChoice.ROLLING,
        }
    )
    assert options.is_rolling(scorer="faithfulness", app="desk")
    assert not options.is_rolling(scorer="faithfulness", app="shop")
    assert options.is_rolling(scorer="other", app="")
    assert not options.is_rolling(scorer="other", app="shop")
