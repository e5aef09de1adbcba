"""Alerts of streams that nobody feeds any more are closed, and it is said why."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from builders.score_counts import make_counts
from ragsonde.storage.armings import SEEN_OUT
from ragsonde.storage.idle_alerts import APP_GONE, SCORER_GONE, close_idle
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
OPEN = text(
    """
INSERT INTO alert (
    stream_id, app, environment, kind, opened_at, since, told_at, baseline_id, explanation)
SELECT id, app, environment, 'page', :at, :at, :at, 1, '{"drop": 0.5}' FROM score_stream WHERE id = :stream
"""
)


@pytest.fixture
def ground(engine):
    return RegressionGround(engine)


@pytest.fixture
def fallen(ground):
    """A stream of two days, in the second of which an alert was opened."""
    stream = ground.add_stream(version="2")
    ground.count(stream, make_counts(days=2, per_block=1, seed=1))
    with ground.engine.begin() as connection:
        connection.execute(OPEN, {"stream": stream, "at": block_at(ground.first + DAY)})
    return stream


def go_on(ground, *, until, **names):
    """Another stream has traces, from the third day on."""
    stream = ground.add_stream(**names)
    ground.count(stream, make_counts(days=until - 2, per_block=4, first_day=2, seed=2))
    ground.judge(until=until * DAY)


def close(ground):
    return [one.reason for one in close_idle(ground.engine, days=7, now=ground.clock.now())]


@pytest.mark.usefixtures("fallen")
def test_rolled_back_to_what_was_before(ground):
    go_on(ground, until=8, version="1")
    assert close(ground) == []
    go_on(ground, until=10, version="1")
    assert close(ground) == [SEEN_OUT]
    assert close(ground) == []
    (alert,) = ground.list_alerts()
    assert (alert["kind"], alert["closed_at"], alert["reason"]) == ("page", ground.clock.now(), SEEN_OUT)


@pytest.mark.usefixtures("fallen")
def test_while_the_other_one_is_not_watched_it_stays(ground):
    other = ground.add_stream(version="1")
    ground.count(other, make_counts(days=8, per_block=1, first_day=2, seed=2).between(9 * DAY, 9 * DAY + 20))
    ground.judge(until=10 * DAY)
    assert close(ground) == []


@pytest.mark.usefixtures("fallen")
def test_the_scorer_is_used_no_more(ground):
    go_on(ground, until=10, scorer="faithfulness")
    assert close(ground) == [SCORER_GONE]


@pytest.mark.usefixtures("fallen")
def test_the_app_is_gone(ground):
    go_on(ground, until=10, app="other")
    assert close(ground) == [APP_GONE]


@pytest.mark.usefixtures("fallen")
def test_what_is_not_counted_yet_may_hold_traces(ground):
    ground.close(3 * DAY)
    ground.clock.advance(30 * 86_400)
    assert close(ground) == []


def test_judgements_that_fail_are_no_end(ground, fallen):
    go_on(ground, until=10, version="1")
    late = make_counts(days=1, per_block=1, first_day=9, seed=3).between(9 * DAY, 9 * DAY + 1)
    ground.count(fallen, late, failed={9 * DAY: 5})
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE score_block SET n = 0 WHERE stream_id = :stream AND failed > 0"), {"stream": fallen}
        )
    assert close(ground) == []
