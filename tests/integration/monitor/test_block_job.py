"""The monitor counts what has ended, the newest first, goes on where it was, and shows how far it is."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import FREE, make_trace, plan_paid
from ragsonde.storage.block_counting import count_block
from ragsonde.storage.end_to_end import read_end_to_end_p99
from ragsonde.storage.engine import GivenUpError
from ragsonde.storage.locks import MIGRATION_LOCK
from ragsonde.storage.score_blocks import read_progress
from ragsonde.watching import block_jobs
from ragsonde_schemas.score_stream import begin_block
from services.block_ground import BlockGround, Outcome, count_by_hand, minutes

pytestmark = pytest.mark.integration


@pytest.fixture
def ground(engine):
    """Whose monitor has begun, and has nothing to do."""
    ground = BlockGround(engine)
    ground.begin()
    return ground


def free(raw, *, at):
    place = (FREE, "shop", "", at)
    return [
        Outcome("context_precision", "1:answer", *place, raw),
        Outcome("statement_relevancy", "1", *place, None),
    ]


def list_starts(ground):
    return sorted({one.start for one in ground.read()})


def test_a_block_is_counted_when_it_has_ended_five_minutes_ago(ground):
    ground.admit("t-1", raw=0.3, occurred_at=NOON)
    ground.admit("t-2", raw=0.5, occurred_at=NOON + minutes(4))
    ground.count(minutes=9)
    assert ground.read() == []
    ground.count(minutes=1)
    assert ground.read() == count_by_hand([*free(0.3, at=NOON), *free(0.5, at=NOON)])
    assert ground.list_marks() == []


def test_what_comes_days_late_is_counted_at_once(ground):
    at = NOON - timedelta(days=3)
    ground.admit("t-1", raw=0.3, occurred_at=at)
    ground.count(minutes=1)
    ground.admit("t-2", raw=0.5, occurred_at=at)
    ground.count(minutes=1)
    assert ground.read() == count_by_hand([*free(0.3, at=at), *free(0.5, at=at)])


def test_a_block_that_has_not_changed_is_not_counted_again(ground, monkeypatch):
    counted = []
    monkeypatch.setattr(
        block_jobs, "count_block", lambda *args, **kw: counted.append(args[1]) or count_block(*args, **kw)
    )
    ground.admit("t-1")
    for _ in range(30):
        ground.count(minutes=1)
    assert counted == [NOON]


def test_what_was_stored_before_the_first_monitor_is_counted_the_newest_first(engine, monkeypatch):
    ground = BlockGround(engine, kept_days=2)
    days = [NOON - timedelta(days=back) for back in range(3)]
    for number, at in enumerate(days):
        ground.admit(f"t-{number}", occurred_at=at)
    counted = []

    def count(*args, **kw):
        counted.append(args[1])
        ground.clock.advance(1)
        return count_block(*args, **kw)

    monkeypatch.setattr(block_jobs, "count_block", count)
    ground.count(minutes=10)
    assert len(counted) == 40
    assert counted[0] == NOON
    assert counted == sorted(counted, reverse=True)
    ground.restart()
    for _ in range(12):
        ground.count(minutes=0)
    assert list_starts(ground) == sorted(days[:2])


def test_one_run_ends_in_time_and_the_next_goes_on(ground):
    for number in range(6):
        ground.admit(f"t-{number}", occurred_at=NOON - minutes(5 * number))
    stops = iter([False] * 4 + [True] * 99)
    ground.chores.should_pause = lambda: next(stops)
    ground.count(minutes=10)
    first = list_starts(ground)
    assert 0 < len(first) < 6
    assert first[-1] == NOON
    ground.chores.should_pause = lambda: False
    ground.count()
    assert len(list_starts(ground)) == 6


def test_a_block_that_takes_too_long_keeps_no_older_one_and_is_tried_again(ground, monkeypatch):
    for number in range(3):
        ground.admit(f"t-{number}", occurred_at=NOON - minutes(5 * number))

    def count(engine, start, **kw):
        if start == NOON:
            raise GivenUpError("too slow")
        return count_block(engine, start, **kw)

    with monkeypatch.context() as patched:
        patched.setattr(block_jobs, "count_block", count)
        with pytest.raises(GivenUpError):
            ground.count(minutes=10)
        assert list_starts(ground) == [NOON - minutes(10), NOON - minutes(5)]
    assert ground.list_marks() == [("shop", NOON)]
    ground.count()
    assert len(list_starts(ground)) == 3


def test_a_crash_between_count_and_mark_counts_once_more(ground, monkeypatch):
    ground.admit("t-1", raw=0.3)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(block_jobs, "delete_marks", fail)
        with pytest.raises(KeyboardInterrupt):
            ground.count(minutes=10)
    ground.restart()
    ground.count(minutes=1)
    assert ground.read() == count_by_hand(free(0.3, at=NOON))
    assert ground.list_marks() == []


def test_days_that_a_retention_has_reached_stay_as_they_are(ground, caplog):
    caplog.set_level(logging.INFO)
    at = NOON - timedelta(days=5)
    ground.admit("t-1", raw=0.3, occurred_at=at)
    ground.count(minutes=1)
    ground.chores.kept_days = 3
    ground.forget("t-1")
    ground.count(minutes=1)
    assert ground.read() == count_by_hand(free(0.3, at=at))
    assert ground.list_marks() == []
    assert [one.marks for one in caplog.records if one.msg == "dirty_marks_expired"] == [1]


def test_it_gives_way_to_a_migration(ground, caplog):
    caplog.set_level(logging.INFO)
    ground.admit("t-1")
    with ground.engine.begin() as migration:
        migration.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        ground.count(minutes=10)
    assert [one.msg for one in caplog.records].count("score_blocks_gave_way") == 1
    assert ground.read() == []
    ground.count()
    assert list_starts(ground) == [NOON]


class TestClosing:
    def read(self, ground):
        return read_progress(ground.engine).closed_until

    def test_blocks_are_closed_once_they_are_counted(self, ground):
        ground.count(minutes=12)
        assert self.read(ground) == NOON + minutes(5)
        ground.count(minutes=3)
        assert self.read(ground) == NOON + minutes(10)

    def test_not_while_one_of_them_waits_to_be_counted(self, ground, monkeypatch):
        ground.count(minutes=10)
        ground.admit("t-1", occurred_at=NOON + minutes(10))
        with monkeypatch.context() as patched:
            patched.setattr(block_jobs, "delete_marks", lambda *_: None)
            ground.count(minutes=11)
        assert self.read(ground) == NOON + minutes(5)
        ground.count()
        assert self.read(ground) == NOON + minutes(15)

    def test_what_comes_late_opens_none_again(self, ground, monkeypatch):
        ground.count(minutes=30)
        ground.admit("t-1", occurred_at=NOON)
        monkeypatch.setattr(block_jobs, "delete_marks", lambda *_: None)
        ground.count(minutes=5)
        assert self.read(ground) == NOON + minutes(25)

    def test_not_while_due_work_lags_by_a_block(self, ground):
        ground.count(minutes=10)
        ground.stores.traces.admit(make_trace(occurred_at=ground.clock.now()), (plan_paid(),))
        ground.count(minutes=9)
        assert self.read(ground) == NOON + minutes(5)
        (key,) = ground.stores.take_due()
        ground.finish(key)
        ground.count(minutes=16)
        # it took nine minutes, which is the grace from now on
        assert self.read(ground) == NOON + minutes(25)

    def test_later_where_scores_take_longer(self, ground):
        """The p99 of 17 minutes is the grace: at 45 past, blocks that ended at 25 past are closed."""
        for number in range(3):
            ground.admit(f"t-{number}", occurred_at=NOON - minutes(17))
        ground.count(minutes=45)
        assert self.read(ground) == NOON + minutes(25)

    def test_the_p99_is_of_live_evaluations_that_have_ended(self, ground):
        def read(since=NOON):
            return read_end_to_end_p99(ground.engine, since=since, first_day=date(2026, 6, 13))

        assert read() is None
        for number in range(198):
            ground.admit(f"t-{number}", occurred_at=NOON - minutes(1))
        ground.admit("slow", occurred_at=NOON - minutes(9))
        assert read() == minutes(1)
        ground.admit("slower", occurred_at=NOON - minutes(8))
        ground.admit("slowest", occurred_at=NOON - minutes(30))
        assert read() == minutes(8)
        with ground.engine.begin() as connection:
            connection.execute(text("UPDATE evaluation SET is_added = true WHERE trace_id LIKE 'slow%'"))
        assert read() == minutes(1)
        assert read(since=NOON + minutes(1)) is None


class TestGauges:
    @pytest.fixture
    def live(self, engine):
        now = datetime.now(UTC).replace(minute=2, second=0, microsecond=0)
        return BlockGround(engine, FakeClock(now))

    def read(self, ground, *, after_minutes=0.0):
        ground.clock.advance(60 * after_minutes)
        ground.chores.show_age()
        lines = ground.series.render().body.decode().splitlines()
        return {
            line.split()[0].removeprefix("ragsonde_monitor_"): float(line.split()[1])
            for line in lines
            if line.startswith(("ragsonde_monitor_lag", "ragsonde_monitor_last_block"))
        }

    def test_none_before_the_first_run(self, live):
        assert self.read(live) == {}

    def test_the_end_of_the_last_closed_block_and_how_long_nobody_has_looked(self, live):
        now = live.clock.now()
        live.count(minutes=10)
        live.count()
        shown = self.read(live, after_minutes=3)
        assert shown["last_block_timestamp_seconds"] == (now + minutes(3)).timestamp()
        assert shown["lag_seconds"] >= 180
        live.count()
        assert self.read(live)["last_block_timestamp_seconds"] == (now + minutes(8)).timestamp()

    def test_how_long_a_block_has_waited_that_cannot_be_counted(self, live, monkeypatch):
        live.clock.jump(-timedelta(hours=3).total_seconds())
        due_since = begin_block(live.clock.now()) + minutes(10)
        live.begin()
        live.admit("t-1")
        monkeypatch.setattr(block_jobs, "delete_marks", lambda *_: None)
        live.count(minutes=50)
        with live.engine.begin() as connection:  # Postgres marked it by its own time, three hours from here
            connection.execute(text("UPDATE dirty_mark SET marked_at = since"))
        waited = live.clock.now() - due_since
        assert self.read(live)["lag_seconds"] == waited.total_seconds()
        live.chores.count()
        assert self.read(live)["lag_seconds"] == waited.total_seconds()

    def test_each_monitor_shows_them_and_one_counts(self, live):
        by_name = {job.name: job for job in live.chores.build_jobs()}
        assert by_name["score_blocks"].is_exclusive
        assert not by_name["block_age"].is_exclusive
