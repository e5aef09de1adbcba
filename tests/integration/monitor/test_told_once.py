"""An alert is warned of at most once and paged at most once, whatever is judged anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragsonde.regression.alert_state import Level
from ragsonde.regression.options import RegressionOptions
from services.steering_ground import DAY, SteeringGround, level

pytestmark = pytest.mark.integration
SINK = RegressionOptions(webhook={"url": "http://127.0.0.1:9/"})


def fall_below_a_floor(engine, **chores):
    """A stream of few traces that fell below a floor, was idle for longer than is judged anew, and goes on.

    The floor was moved meanwhile, so that it begins anew without a block of before.
    """
    ground = SteeringGround(engine)
    ground.chores = replace(ground.chores, options=SINK, **chores)
    stream = ground.add_stream()
    for day in range(9):
        begin = day * DAY
        ground.count(stream, level(first=begin, end=begin + 40, mean=0.8, seed=day, per_block=1))
    ground.judge(until=9 * DAY)
    ground.set_floor(0.7)
    ground.count(stream, level(first=9 * DAY, end=9 * DAY + 60, mean=0.2, seed=50, per_block=1))
    ground.judge(until=10 * DAY)
    told = ground.list_alerts()
    ground.judge(until=18 * DAY)
    ground.set_floor(0.75)
    ground.judge(until=18 * DAY + 1)
    begin = 18 * DAY + 1
    ground.count(stream, level(first=begin, end=begin + 60, mean=0.2, seed=51, per_block=1))
    ground.judge(until=19 * DAY)
    return ground, stream, told


def list_notices(ground):
    return [event for (event,) in ground.query("SELECT event FROM alert_notice ORDER BY id")]


def test_an_open_page_older_than_what_is_judged_anew_is_not_told_again(engine):
    ground, stream, told = fall_below_a_floor(engine)
    (before,) = told
    (after,) = ground.list_alerts()
    assert before["paged_at"] is not None
    assert (after["kind"], after["paged_at"], after["since"]) == ("page", before["paged_at"], before["since"])
    assert list_notices(ground) == ["warn", "page"]
    found = ground.read_state(stream).state
    assert (found.level, found.opened is None) == (Level.PAGED, False)


def test_an_open_warning_of_what_may_not_be_paged_stays_one(engine):
    ground, stream, told = fall_below_a_floor(engine, targets=frozenset({"context_precision"}))
    (before,) = told
    (after,) = ground.list_alerts()
    assert (before["kind"], after["kind"], after["paged_at"]) == ("warn", "warn", None)
    assert after["explanation"] == before["explanation"]
    assert list_notices(ground) == ["warn"]
    assert ground.read_state(stream).state.level is Level.WARNED
