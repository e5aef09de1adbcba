"""What people decide about alerts holds for the monitor that runs beside, whatever comes late."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from sqlalchemy import text

from ragsonde.regression.alert_state import Level
from ragsonde.regression.baseline import BaselineKind
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.alert_steering import ack_alert, count_pages
from ragsonde.storage.alerts import FoundFall, escalate_alert
from ragsonde.storage.locks import hash_job
from ragsonde.storage.regression_states import JUDGING_LOCK
from ragsonde.watching import steering
from ragsonde_schemas.errors import GivenUpError, InputError
from ragsonde_schemas.score_stream import block_at
from services.steering_ground import DAY, WELL, SteeringGround, assert_same_state, level
from services.waiting import wait_for

pytestmark = pytest.mark.integration
END = 9 * DAY + 96


@pytest.fixture
def ground(engine):
    return SteeringGround(engine)


@pytest.fixture
def stream(ground):
    return ground.begin()


@pytest.fixture
def alert(ground, stream):
    return ground.fall(stream)


def test_after_accept_the_same_level_is_quiet_and_a_further_fall_pages(ground, stream, alert):
    assert ground.list_alerts()[0]["paged_at"] is not None
    done = ground.accept(alert)
    (told,) = ground.list_alerts()
    assert (told["closed_at"], told["accepted_at"], told["reason"]) == (*[ground.clock.now()] * 2, "meant")
    assert (done.is_new, done.fitted.kind) == (True, BaselineKind.PROVISIONAL)  # 384 traces at most
    assert done.fitted.mean == pytest.approx(0.6, abs=0.06)
    found = ground.read_state(stream)
    assert (found.baseline, found.state.level) == (done.baseline, Level.QUIET)
    ground.go_on(stream, level(first=END, end=12 * DAY, mean=0.6, seed=3), step=72)
    assert len(ground.list_alerts()) == 1
    ground.go_on(stream, level(first=12 * DAY, end=13 * DAY, mean=0.45, seed=4), step=72)
    assert len(ground.list_alerts()) == 2
    further = ground.list_alerts()[1]
    assert (further["kind"], further["closed_at"]) == ("page", None)
    assert further["explanation"]["baseline_mean"] == pytest.approx(0.6, abs=0.04)
    assert abs((further["since"] - block_at(ground.first + 12 * DAY)).total_seconds()) < 6 * 3600


def test_of_few_traces_it_only_warns_and_settles_by_itself(ground, stream, alert):
    provisional = ground.accept(alert).baseline
    ground.go_on(stream, level(first=END, end=END + 24, mean=0.6, seed=3))
    assert ground.read_state(stream).baseline == provisional
    ground.go_on(stream, level(first=END + 24, end=END + 96, mean=0.6, seed=3))
    settled = ground.read_state(stream).baseline
    assert settled != provisional
    by_number = {one.stored.number: one for one in ground.list_baselines()}
    assert by_number[settled].stored.baseline.kind is BaselineKind.PINNED
    assert by_number[settled].stored.baseline.trace_count >= 500
    assert by_number[settled].stored.reason == "meant"
    assert by_number[settled].since == by_number[provisional].since
    assert by_number[provisional].replaced_at is not None


def test_while_it_is_provisional_a_further_fall_warns_and_does_not_become_usual(ground, stream, alert):
    provisional = ground.accept(alert).baseline
    ground.go_on(stream, level(first=END, end=END + 96, mean=0.1, seed=3), step=12)
    further = ground.list_alerts()[1]
    assert (further["kind"], further["paged_at"], further["closed_at"]) == ("warn", None, None)
    assert ground.read_state(stream).baseline == provisional


def test_a_further_fall_that_gathers_evidence_does_not_become_usual(ground, stream, alert):
    provisional = ground.accept(alert).baseline
    ground.go_on(stream, level(first=END, end=END + 72, mean=0.4, seed=3), step=4)
    assert ground.read_state(stream).baseline == provisional
    (further,) = ground.list_alerts()[1:]
    assert (further["kind"], further["closed_at"]) == ("warn", None)


def test_blocks_that_were_held_are_no_part_of_what_settles(ground, stream, alert):
    provisional = ground.accept(alert).baseline
    ground.count(stream, level(first=END, end=END + 60, mean=0.6, seed=3))
    held = level(first=END + 60, end=END + 84, mean=0.1, seed=4)
    ground.count(stream, held, failed=dict.fromkeys(range(END + 60, END + 84), 20))
    ground.judge(until=END + 84)
    found = ground.read_state(stream)
    assert found.hold == "coverage"
    assert found.baseline != provisional
    (settled,) = [one.stored for one in ground.list_baselines() if one.stored.number == found.baseline]
    assert settled.baseline.kind is BaselineKind.PINNED
    assert settled.baseline.mean == pytest.approx(0.6, abs=0.04)
    assert settled.failed_share < 0.05


@pytest.mark.usefixtures("stream")
def test_accepted_twice_it_is_done_once(ground, alert):
    first = ground.accept(alert)
    again = ground.accept(alert, "another")
    assert (first.is_new, again.is_new) == (True, False)
    assert ground.list_alerts()[0]["reason"] == "meant"
    chosen = [one for one in ground.list_baselines() if one.stored.reason is not None]
    assert [one.stored.number for one in chosen] == [first.baseline]


def test_counts_that_come_late_after_accept_reopen_nothing_and_lead_to_the_same(ground, stream, alert):
    ground.accept(alert)
    later = level(first=END, end=END + 288, mean=0.6, seed=3)
    ground.go_on(stream, later, step=96)
    expected = ground.read_state(stream)
    worse = level(first=9 * DAY, end=END, mean=0.1, seed=9)
    ground.count(stream, worse)
    ground.restart()
    ground.judge(until=END + 288)
    assert_same_state(ground.read_state(stream), expected)
    ground.count(stream, later.between(END + 2, END + 200))
    ground.count(stream, WELL.between(8 * DAY, 9 * DAY))
    ground.judge(until=END + 288)
    assert_same_state(ground.read_state(stream), expected)
    assert len(ground.list_alerts()) == 1


@pytest.mark.parametrize("place", ["choose_baseline", "close_as_accepted", "write_states"])
def test_killed_between_nothing_is_done_and_it_may_be_done_again(ground, stream, alert, monkeypatch, place):
    before = ground.list_alerts(), ground.read_state(stream).baseline, len(ground.list_baselines())

    def die(*_, **__):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(steering, place, die)
        with pytest.raises(RuntimeError):
            ground.accept(alert)
    assert (ground.list_alerts(), ground.read_state(stream).baseline, len(ground.list_baselines())) == before
    assert ground.accept(alert).is_new


def test_killed_while_it_is_called_false_nothing_is_done(ground, stream, alert, monkeypatch):
    before = ground.list_alerts()

    def die(*_, **__):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(steering, "write_states", die)
        with pytest.raises(RuntimeError):
            ground.call_false(alert)
    assert ground.list_alerts() == before
    assert ground.read_state(stream).state.level is Level.PAGED


def test_called_false_it_is_counted_and_not_told_again_at_once(ground, stream, alert):
    (page,) = ground.list_alerts()
    assert ground.call_false(alert) is True
    assert ground.call_false(alert) is False
    (told,) = ground.list_alerts()
    assert (told["false_at"], told["closed_at"]) == (ground.clock.now(), ground.clock.now())
    assert count_pages(ground.engine, since=page["paged_at"]) == (1, 1)
    assert ground.read_state(stream).state.log_evidence == float("-inf")
    ground.go_on(stream, level(first=END, end=END + 8, mean=0.6, seed=3), step=4)
    assert len(ground.list_alerts()) == 1
    # what goes on falling is told again once chance does not show it any more
    ground.go_on(stream, level(first=END + 8, end=END + 200, mean=0.6, seed=3), step=24)
    assert len(ground.list_alerts()) == 2


def test_called_false_a_replay_leads_to_the_same(ground, stream, alert):
    ground.call_false(alert)
    later = level(first=END, end=END + 40, mean=0.78, seed=3)
    ground.go_on(stream, later, step=8)
    expected = ground.read_state(stream)
    fallen = level(first=9 * DAY, end=END, mean=0.6)
    ground.count(stream, fallen.between(9 * DAY, 9 * DAY + 1))
    ground.restart()
    ground.judge(until=END + 40)
    assert_same_state(ground.read_state(stream), expected)
    assert len(ground.list_alerts()) == 1


def test_called_false_while_judging_lags_nothing_of_before_is_told(ground, stream, alert):
    ground.clock.advance(6 * 3600)
    ground.call_false(alert)
    ground.go_on(stream, level(first=END, end=END + 60, mean=0.3, seed=3), step=12)
    assert len(ground.list_alerts()) == 1


def test_a_resolved_alert_may_be_called_false_and_stays_closed(ground, stream, alert):
    ground.go_on(stream, level(first=END, end=END + 576, mean=0.8, seed=3), step=96)
    (resolved,) = ground.list_alerts()
    assert resolved["kind"] == "resolve"
    expected = ground.read_state(stream)
    assert ground.call_false(alert) is True
    assert ground.list_alerts()[0]["closed_at"] == resolved["closed_at"]
    assert_same_state(ground.read_state(stream), expected)
    with pytest.raises(InputError, match="expected an open one"):
        ground.accept(alert)


def test_known_it_stays_open_and_recovery_ends_it(ground, stream, alert):
    now = ground.clock.now()
    assert ack_alert(ground.engine, alert, now=now) is True
    ground.clock.advance(60)
    assert ack_alert(ground.engine, alert, now=ground.clock.now()) is False
    assert ground.list_alerts()[0]["acked_at"] == now
    before = ground.read_state(stream).state.log_evidence
    ground.go_on(stream, level(first=END, end=END + 48, mean=0.6, seed=3))
    assert ground.read_state(stream).state.log_evidence > before
    ground.go_on(stream, level(first=END + 48, end=END + 576, mean=0.8, seed=4), step=96)
    (told,) = ground.list_alerts()
    assert (told["kind"], told["acked_at"]) == ("resolve", now)
    assert ack_alert(ground.engine, alert, now=ground.clock.now()) is False


def test_what_was_accepted_is_not_false(ground, alert):
    ground.accept(alert)
    with pytest.raises(InputError, match="accepted at"):
        ground.call_false(alert)
    with pytest.raises(InputError, match="there is none"):
        ground.accept(alert + 1)


@pytest.mark.usefixtures("stream")
def test_it_waits_for_who_judges_and_both_are_done(ground, alert):
    done = []
    deciding = threading.Thread(target=lambda: done.append(ground.accept(alert)))
    with ground.engine.begin() as judging:
        judging.execute(
            text("SELECT pg_advisory_xact_lock(1380011844, :job)"), {"job": hash_job(JUDGING_LOCK)}
        )
        deciding.start()
        wait_for(
            lambda: ground.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
            seconds=20,
        )
        assert ground.list_alerts()[0]["closed_at"] is None
    deciding.join(30)
    assert [one.is_new for one in done] == [True]


def test_beside_a_monitor_that_judges_the_same_nothing_is_lost(ground, stream, alert):
    later = level(first=END, end=END + 48, mean=0.6, seed=3)
    ground.count(stream, later)
    ground.close(END + 48)
    begin = threading.Barrier(3)
    failures = []

    def run(work):
        begin.wait()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test tells it
            failures.append(error)

    works = (ground.chores.judge, lambda: ground.accept(alert), lambda: ground.accept(alert))
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    (told,) = ground.list_alerts()
    chosen = [one for one in ground.list_baselines() if one.stored.reason is not None]
    assert told["accepted_at"] is not None
    assert [one.is_judging for one in chosen if one.replaced_at is None] == [True]


def test_during_a_migration_nothing_is_done(ground, alert):
    with ground.engine.begin() as migrating:
        migrating.execute(text("SELECT pg_advisory_xact_lock(6471382205113092719)"))
        with pytest.raises(GivenUpError):
            ground.accept(alert)
    assert ground.list_alerts()[0]["closed_at"] is None


def test_accepted_where_the_baseline_moves_along_it_only_warns_until_that_is_dropped(ground):
    rolling = RegressionOptions(baselines={"context_precision": "rolling"})
    ground.chores = replace(ground.chores, options=rolling)
    stream = ground.begin()
    ground.accept(ground.fall(stream))
    ground.go_on(stream, level(first=END, end=11 * DAY, mean=0.6, seed=3), step=96)
    chosen = ground.read_state(stream).baseline
    (settled,) = [one for one in ground.list_baselines() if one.stored.number == chosen]
    assert settled.stored.baseline.kind is BaselineKind.PINNED
    ground.go_on(stream, level(first=11 * DAY, end=11 * DAY + 96, mean=0.3, seed=4), step=48)
    assert [paged for _, paged, _ in ground.list_kinds()] == [None, None]
    ground.drop(chosen)
    ground.go_on(stream, level(first=11 * DAY + 96, end=11 * DAY + 98, mean=0.6, seed=5))
    (judging,) = [one for one in ground.list_baselines() if one.is_judging]
    assert judging.stored.baseline.kind is BaselineKind.ROLLING


@pytest.mark.usefixtures("stream")
def test_a_closed_alert_is_made_no_page(ground, alert):
    ground.call_false(alert)
    before = ground.list_alerts()
    fall = FoundFall(ground.first + END, ground.first + 9 * DAY, 1, {"drop": 0.9})
    with ground.engine.begin() as connection:
        escalate_alert(connection, alert, fall)
    assert ground.list_alerts() == before
