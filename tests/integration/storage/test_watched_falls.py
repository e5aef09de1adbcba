"""What the page reads of falls and of streams that are watched, from a real Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from builders.score_counts import join_counts, make_counts
from ragsonde.storage.baselines import number_block
from ragsonde.storage.shown_regressions import read_shown
from ragsonde.storage.watched_falls import list_falls, read_fall
from ragsonde.storage.watched_streams import read_fall_watch
from ragsonde_schemas.score_stream import block_at
from ragsonde_schemas.watched_fall import FallFilter, FallState, WatchState
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
WELL = make_counts(days=9, per_block=4, seed=1)
FALL = join_counts(WELL, make_counts(days=1, per_block=4, mean=0.6, first_day=9, seed=2))
END = 10 * DAY
_TOTALS = text(
    "UPDATE score_block SET total = (SELECT sum(u.bin * u.n) / 100.0 FROM unnest(bins, counts) AS u(bin, n))"
)
_COPIED = (
    "stream_id, app, environment, kind, opened_at, paged_at, closed_at, since, told_at, baseline_id, "
    "explanation"
)
_COPY = text(
    f"INSERT INTO alert ({_COPIED}) SELECT {_COPIED} FROM alert, generate_series(1, 1001)"  # noqa: S608
)


@pytest.fixture
def ground(own_engine):
    return RegressionGround(own_engine)


@pytest.fixture
def fallen(ground):
    """A stream that fell on its tenth day, and one of another app that did not."""
    stream, steady = ground.add_stream(), ground.add_stream(app="help")
    ground.count(stream, FALL.between(0, 9 * DAY))
    ground.count(steady, FALL.between(0, 9 * DAY))
    ground.judge(until=9 * DAY)
    for first in range(9 * DAY, END, 96):
        ground.count(stream, FALL.between(first, first + 96))
        ground.count(steady, ground_level(first))
        ground.judge(until=first + 96)
    with ground.engine.begin() as connection:
        connection.execute(_TOTALS)
    return stream


def ground_level(first):
    return make_counts(days=1 / 3, per_block=4, first_day=first / DAY, seed=first)


def watch(ground):
    found = read_fall_watch(ground.engine, now=ground.clock.now())
    return found, {one.stream.app: one for one in found.streams}


@pytest.mark.usefixtures("fallen")
def test_streams_are_told_with_what_is_open_of_them_and_what_they_could_see(ground):
    found, streams = watch(ground)
    (alert,) = ground.list_alerts()
    assert found.judged_until == block_at(ground.first + END)
    shop, other = streams["shop"], streams["help"]
    assert (shop.state, shop.fall, shop.is_acked) == (WatchState.FELL, alert["id"], False)
    assert (shop.drop, shop.since) == (alert["explanation"]["drop"], alert["since"])
    assert shop.drop_lower < shop.drop < shop.drop_upper
    assert (other.state, other.fall, other.drop) == (WatchState.STEADY, None, None)
    assert (other.baseline_kind, other.arming, other.hold) == ("pinned", None, None)
    # the smallest one that matters and two standard errors: sqrt(.8 * .2 / 2 / 336) of an hour's 336 + 200
    assert 0.02 < other.smallest_drop < 0.06


@pytest.mark.usefixtures("fallen")
def test_a_warning_is_suspected_and_an_acknowledged_one_says_so(ground):
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE alert SET kind = 'warn', paged_at = NULL, acked_at = now()"))
    shop = watch(ground)[1]["shop"]
    assert (shop.state, shop.is_acked) == (WatchState.SUSPECTED, True)


@pytest.mark.usefixtures("fallen")
def test_a_hold_is_told_with_its_reason_unless_a_fall_is_open(ground):
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE monitor_state SET hold = 'coverage'"))
    streams = watch(ground)[1]
    assert streams["shop"].state is WatchState.FELL
    assert (streams["help"].state, streams["help"].hold) == (WatchState.HELD, "coverage")


def test_a_young_stream_arms(ground):
    stream = ground.add_stream()
    ground.count(stream, make_counts(days=3.5, per_block=4, seed=1))
    ground.judge(until=DAY // 2)
    ground.close(int(3.5 * DAY))
    found = watch(ground)[1]["shop"]
    assert (found.state, found.smallest_drop, found.baseline_kind) == (WatchState.ARMING, None, None)
    assert found.arming.share >= 0.5
    assert found.arming.traces == 3.5 * DAY * 4


@pytest.mark.usefixtures("fallen")
def test_a_silent_stream_is_none_that_people_look_at_unless_it_fell(ground):
    ground.clock.advance(86_400 * 2)
    assert list(watch(ground)[1]) == ["shop"]


def test_nothing_that_was_ever_counted_is_told_as_nothing(ground):
    assert watch(ground)[0].judged_until is None
    assert watch(ground)[0].streams == ()


@pytest.mark.usefixtures("fallen")
def test_a_fall_has_the_hourly_means_around_its_beginning(ground):
    (alert,) = ground.list_alerts()
    found = read_fall(ground.engine, alert["id"], now=ground.clock.now(), page_days=365)
    assert found.fall.number == alert["id"]
    assert found.fall.explanation["drop"] == alert["explanation"]["drop"]
    assert found.threshold_days == 365 * 2  # of two streams with traces
    assert found.step_seconds == 3600
    assert found.points[0].start >= alert["since"] - timedelta(days=2, hours=1)
    before = [one.mean for one in found.points if one.start < alert["since"] - timedelta(hours=1)]
    after = [one.mean for one in found.points if one.start > alert["since"]]
    assert {one.n for one in found.points[1:-1]} == {48}  # 4 of each of 12 blocks
    assert sum(before) / len(before) == pytest.approx(0.8, abs=0.02)
    assert sum(after) / len(after) == pytest.approx(0.6, abs=0.03)
    assert read_fall(ground.engine, alert["id"] + 1, now=ground.clock.now()) is None


@pytest.mark.usefixtures("fallen")
def test_a_fall_has_its_scores_of_the_baseline_and_since_it_began(ground):
    (alert,) = ground.list_alerts()
    found = read_fall(ground.engine, alert["id"], now=ground.clock.now())
    assert sum(found.before.bins) == 7 * DAY * 4  # the first week
    assert (found.before.since, found.before.until) == (
        block_at(ground.first),
        block_at(ground.first + 7 * DAY),
    )
    assert found.after.since == alert["since"]
    end = ground.first + END
    assert sum(found.after.bins) == (end - number_block(alert["since"])) * 4
    lowest = [sum(one.bins[:6]) / sum(one.bins) for one in (found.before, found.after)]
    assert lowest[1] > lowest[0] + 0.2
    with ground.engine.begin() as connection:
        connection.execute(text("DELETE FROM score_block"))
    bare = read_fall(ground.engine, alert["id"], now=ground.clock.now())
    assert (bare.before, bare.after) == (None, None)


@pytest.mark.usefixtures("fallen")
def test_streams_say_since_when_they_are_judged_and_when_they_last_fell(ground):
    (alert,) = ground.list_alerts()
    judged = block_at(ground.first + 7 * DAY)
    first, help_ = (watch(ground)[1][app] for app in ("shop", "help"))
    assert first.evidence_days == pytest.approx(alert["explanation"]["evidence_days"])
    assert (help_.evidence_days, help_.fell_until) == (None, None)
    assert help_.judged_since <= judged
    end = "UPDATE alert SET closed_at = opened_at, false_at = {}"
    for called, expected in (("now()", None), ("NULL", alert["opened_at"])):
        with ground.engine.begin() as connection:
            connection.execute(text(end.format(called)))
        assert watch(ground)[1]["shop"].fell_until == expected


@pytest.mark.usefixtures("fallen")
def test_an_explanation_of_another_shape_leaves_the_overview_and_the_gauges_standing(ground):
    with ground.engine.begin() as connection:
        connection.execute(text("""UPDATE alert SET explanation = '{"drop": "deep"}'"""))
    shop = watch(ground)[1]["shop"]
    assert (shop.state, shop.drop, shop.drop_lower) == (WatchState.FELL, None, None)
    shown = read_shown(ground.engine, first=ground.clock.now().date() - timedelta(days=7))
    assert [one.fall.drop for one in shown if one.fall is not None] == [None]


@pytest.mark.usefixtures("fallen")
def test_older_falls_are_found_however_many_came_since(ground):
    alert = {"id": ground.list_alerts()[0]["id"]}
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE alert SET closed_at = opened_at, false_at = now()"))
        connection.execute(_COPY)
        older = "UPDATE alert SET opened_at = opened_at - interval '9 days' WHERE id = :id"
        connection.execute(text(older), alert)
    found = list_falls(ground.engine, FallFilter(state=FallState.FALSE), now=ground.clock.now())
    assert (len(found.falls), found.has_more) == (1, False)


@pytest.mark.usefixtures("fallen")
def test_a_long_fall_has_fewer_points(ground):
    (alert,) = ground.list_alerts()
    later = ground.clock.now() + timedelta(days=20)
    found = read_fall(ground.engine, alert["id"], now=later)
    assert found.step_seconds == 86_400
    assert len(found.points) <= 5


@pytest.mark.usefixtures("fallen")
def test_lists_choose_by_place_and_state(ground):
    (alert,) = ground.list_alerts()
    now = ground.clock.now()

    def count(**wanted):
        return len(list_falls(ground.engine, FallFilter(**wanted), now=now).falls)

    assert count() == count(app="shop") == count(app="shop", environment="prod") == 1
    assert count(app="help") == count(environment="staging") == 0
    assert [count(state=state) for state in FallState] == [1, 0, 1, 0, 1]
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE alert SET closed_at = opened_at, false_at = now()"))
    assert [count(state=state) for state in FallState] == [0, 1, 1, 1, 1]
    found = list_falls(ground.engine, FallFilter(), now=now)
    assert (found.pages, found.false_pages, found.falls[0].number) == (1, 1, alert["id"])
    assert list_falls(ground.engine, FallFilter(app="help"), now=now).pages == 0
    assert list_falls(ground.engine, FallFilter(), now=now + timedelta(days=366)).pages == 0


@pytest.mark.usefixtures("fallen")
def test_a_list_is_cut_and_says_so(ground):
    assert list_falls(ground.engine, FallFilter(), now=ground.clock.now(), most=0).has_more
