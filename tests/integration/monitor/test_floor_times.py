"""A floor holds from when it was set to when it was dropped; counts that come late change nothing of it."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from ragsonde.storage.block_changes import note_change
from ragsonde_schemas.score_stream import block_at
from services.steering_ground import DAY, SteeringGround, assert_same_state, level

pytestmark = pytest.mark.integration


@pytest.fixture
def ground(engine):
    return SteeringGround(engine)


@pytest.fixture
def stream(ground):
    return ground.begin()


def judge_again(ground, stream, *, first, until):
    """As when counts come late that are as they were."""
    found = text("SELECT DISTINCT start FROM score_block WHERE stream_id = :stream AND start >= :since")
    with ground.engine.begin() as connection:
        columns = {"stream": stream, "since": block_at(ground.first + first)}
        for (start,) in connection.execute(found, columns).all():
            note_change(connection, start, streams=[stream])
    ground.judge(until=until)


def test_days_before_a_floor_was_set_are_never_judged_by_it(ground, stream):
    ground.go_on(stream, level(first=9 * DAY, end=11 * DAY, mean=0.79, seed=3), step=DAY)
    ground.go_on(stream, level(first=11 * DAY, end=13 * DAY, mean=0.97, seed=4), step=DAY)
    ground.set_floor(0.92)
    ground.go_on(stream, level(first=13 * DAY, end=13 * DAY + 24, mean=0.97, seed=5))
    judge_again(ground, stream, first=10 * DAY, until=13 * DAY + 24)
    assert ground.list_alerts() == []


@pytest.mark.parametrize("way", ["set", "set and dropped", "pinned and dropped"])
def test_what_is_judged_again_leads_to_the_same_after_a_choice(ground, stream, way):
    end = 9 * DAY + 48
    ground.go_on(stream, level(first=9 * DAY, end=end, mean=0.74, seed=3))
    number = (ground.pin(first=0, end=6 * DAY) if "pinned" in way else ground.set_floor(0.8))[0].number
    if "dropped" in way:
        ground.go_on(stream, level(first=end, end=end + 24, mean=0.76, seed=4))
        end += 24
        ground.drop(number)
    ground.go_on(stream, level(first=end, end=end + 12, mean=0.76, seed=5), step=12)
    expected, told = ground.read_state(stream), ground.list_alerts()
    assert expected.state.log_evidence > float("-inf")
    for first in (end - 1, 8 * DAY):
        judge_again(ground, stream, first=first, until=end + 12)
        assert_same_state(ground.read_state(stream), expected)
        assert ground.list_alerts() == told
