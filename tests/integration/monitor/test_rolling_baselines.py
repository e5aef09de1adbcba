"""A baseline that moves along leads live to where a replay of the whole history leads, and never pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.options import BaselineChoice, RegressionOptions
from ragsonde.regression.replay import replay_rolling
from ragsonde.watching.steering import call_false
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
ROLLING = RegressionOptions(baselines={"context_precision/shop": BaselineChoice.ROLLING})
HISTORY = join_counts(
    make_counts(days=12, per_block=4, seed=1),
    make_counts(days=1, per_block=4, mean=0.6, first_day=12, seed=2),
    make_counts(days=9, per_block=4, first_day=13, seed=3),
)


@pytest.fixture
def ground(engine):
    return RegressionGround(engine, options=ROLLING)


def go_on(ground, stream, *, begin, end, step):
    for first in range(begin, end, step):
        until = min(first + step, end)
        ground.count(stream, HISTORY.between(first, until))
        ground.judge(until=until)


def assert_like_a_replay(ground, stream, *, end):
    expected = replay_rolling(ground.shift(HISTORY.between(0, end)))
    found = ground.read_state(stream).state
    assert (found.level, found.opened) == (expected.state.level, expected.state.opened)
    assert np.allclose(found.log_bets, expected.state.log_bets, rtol=0, atol=1e-9)
    return expected


@pytest.mark.parametrize("step", [100, 5 * DAY])
def test_it_warns_and_ends_as_a_replay_does_in_whatever_steps(ground, step):
    stream = ground.add_stream()
    go_on(ground, stream, begin=0, end=22 * DAY, step=step)
    expected = assert_like_a_replay(ground, stream, end=22 * DAY)
    assert [event.kind for event in expected.events] == [EventKind.WARN, EventKind.RESOLVE]
    (alert,) = ground.list_alerts()
    assert (alert["kind"], alert["paged_at"]) == ("resolve", None)


def test_it_stays_while_a_fall_is_open_and_leaves_the_fall_out_afterwards(ground):
    stream = ground.add_stream()
    go_on(ground, stream, begin=0, end=13 * DAY, step=DAY)
    kept = ground.query("SELECT max(judges_from) FROM baseline")
    ((opened,),) = ground.query("SELECT opened_at FROM alert WHERE closed_at IS NULL")
    ground.count(stream, HISTORY.between(13 * DAY, 13 * DAY + 6))
    ground.judge(until=13 * DAY + 6)
    assert ground.query("SELECT max(judges_from) FROM baseline") == kept
    go_on(ground, stream, begin=13 * DAY + 6, end=16 * DAY, step=100)
    ((traces, moved),) = ground.query(
        """SELECT (SELECT sum(n::int) FROM jsonb_array_elements_text(fitted -> 'traces') AS n),
            judges_from > :opened FROM baseline
        ORDER BY judges_from DESC LIMIT 1""",
        opened=opened,
    )
    assert moved
    assert traces >= 500
    newest = replay_rolling(ground.shift(HISTORY.between(0, 16 * DAY))).baseline
    assert newest.mean > 0.78, "the fallen day is not in it"


def test_old_ones_are_replaced_so_that_they_do_not_pile_up(ground):
    stream = ground.add_stream()
    go_on(ground, stream, begin=0, end=12 * DAY, step=DAY)
    ground.count(stream, make_counts(days=9, per_block=4, first_day=12, seed=5))
    ground.judge(until=21 * DAY)
    ((kept,),) = ground.query("SELECT count(*) FROM baseline WHERE replaced_at IS NULL")
    assert 1 <= kept <= 12


def test_another_app_of_the_scorer_is_pinned(ground):
    stream = ground.add_stream(app="other")
    go_on(ground, stream, begin=0, end=10 * DAY, step=5 * DAY)
    assert ground.query("SELECT DISTINCT kind FROM baseline WHERE replaced_at IS NULL") == [("pinned",)]


NEWEST = """
SELECT b.id, b.kind, b.since, b.until,
    (SELECT sum(n::int) FROM jsonb_array_elements_text(b.fitted -> 'traces') AS n)::int
FROM monitor_state m
JOIN baseline b ON b.id = m.baseline_id WHERE m.stream_id = :stream ORDER BY m.day DESC LIMIT 1
"""


def test_set_back_to_pinned_its_last_week_stays_and_it_pages(ground):
    stream = ground.add_stream()
    go_on(ground, stream, begin=0, end=11 * DAY, step=11 * DAY)
    ((_, _, *window),) = ground.query(NEWEST, stream=stream)
    ground.chores = replace(ground.chores, options=RegressionOptions())
    go_on(ground, stream, begin=11 * DAY, end=12 * DAY, step=DAY)
    ((pinned, kind, *stretch),) = ground.query(NEWEST, stream=stream)
    assert (kind, stretch) == ("pinned", window)
    go_on(ground, stream, begin=12 * DAY, end=12 * DAY + 96, step=48)
    (alert,) = ground.list_alerts()
    assert (alert["kind"], alert["baseline_id"]) == ("page", pinned)
    ground.count(stream, HISTORY.between(10 * DAY, 10 * DAY + 1))  # once more, as it came late
    ground.judge(until=12 * DAY + 96)
    assert ground.query(NEWEST, stream=stream)[0][0] == pinned
    assert len(ground.list_alerts()) == 1


def test_what_a_person_called_false_is_of_the_baseline(ground):
    stream = ground.add_stream()
    go_on(ground, stream, begin=0, end=13 * DAY, step=DAY)
    (alert,) = ground.list_alerts()
    call_false(ground.engine, alert["id"], reason=None, now=ground.clock.now())
    go_on(ground, stream, begin=13 * DAY, end=15 * DAY + 1, step=DAY)
    assert ground.query(NEWEST, stream=stream)[0][4] == 7 * DAY * 4
