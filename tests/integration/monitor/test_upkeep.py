"""Partitions, retention and texts as the monitor's jobs, at their edges."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_free
from ragsonde.monitor.chores import JOB_NAMES
from ragsonde.monitor.upkeep import UPKEEP_JOB_NAMES, RetentionHeldError, Upkeep
from ragsonde.storage.partitions import ensure_day, list_partitions
from ragsonde.storage.text_keeping import StoredTexts, TextRule
from ragsonde.storage.trace_store import PostgresTraceStore
from services.stored_traces import store_reply

pytestmark = pytest.mark.integration

TODAY = NOON.date()
RETENTION = {"score": 90, "judge_reply": 7}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def upkeep(own_engine, clock):
    return make_upkeep(own_engine, clock)


def make_upkeep(engine, clock, **options):
    defaults = {"retention_days": RETENTION, "texts": TextRule(), "read_database_time": lambda _: clock.now()}
    return Upkeep(engine=engine, clock=clock, **defaults | options)


def list_days(engine, table):
    with engine.connect() as connection:
        return [one.day for one in list_partitions(connection) if one.table == table and one.is_attached]


def days_from(first, count):
    return [first + timedelta(days=offset) for offset in range(count)]


def test_the_jobs_have_names_of_their_own_and_one_monitor_does_them(upkeep):
    jobs = upkeep.build_jobs()
    assert tuple(job.name for job in jobs) == UPKEEP_JOB_NAMES
    assert set(UPKEEP_JOB_NAMES).isdisjoint(JOB_NAMES)
    assert all(job.is_exclusive for job in jobs)


def test_partitions_are_made_ahead_and_dropped_at_each_tables_age(own_engine, clock, upkeep):
    upkeep.make_partitions()
    assert list_days(own_engine, "score") == days_from(TODAY, 8)
    clock.advance(8 * 86_400)
    upkeep.drop_partitions()
    assert list_days(own_engine, "score") == days_from(TODAY, 8)
    assert list_days(own_engine, "judge_reply") == days_from(TODAY + timedelta(days=1), 7)


def test_a_day_begins_with_its_partitions_there(own_engine, clock):
    upkeep = make_upkeep(own_engine, clock, days_ahead=1)
    upkeep.make_partitions()
    clock.advance(12 * 3600 - 1)
    store = PostgresTraceStore(own_engine, clock=clock)
    for seconds in (0, 2):
        clock.advance(seconds)
        store.admit(make_trace(f"t-{seconds}", occurred_at=clock.now()), (plan_free(),))
    assert list_days(own_engine, "score") == days_from(TODAY, 2)
    upkeep.make_partitions()
    assert list_days(own_engine, "score") == days_from(TODAY, 3)


class TestAClockThatJumps:
    @pytest.fixture(autouse=True)
    def _a_week(self, own_engine):
        for day in days_from(TODAY - timedelta(days=6), 7):
            ensure_day(own_engine, day=day)
            store_reply(own_engine, day=day)

    def test_forty_days_ahead_drops_nothing(self, own_engine, clock, upkeep):
        clock.jump(40 * 86_400)
        with pytest.raises(RetentionHeldError, match="7 days of judge_reply would be dropped at once"):
            upkeep.drop_partitions()
        assert len(list_days(own_engine, "judge_reply")) == 7

    def test_and_back_nothing_has_happened(self, own_engine, clock, upkeep):
        clock.jump(40 * 86_400)
        with pytest.raises(RetentionHeldError):
            upkeep.drop_partitions()
        clock.jump(-40 * 86_400)
        upkeep.drop_partitions()
        assert (len(list_days(own_engine, "judge_reply")), upkeep.hold.since) == (7, None)

    def test_what_is_still_so_after_a_day_is_so(self, own_engine, clock, upkeep):
        clock.jump(40 * 86_400)
        with pytest.raises(RetentionHeldError):
            upkeep.drop_partitions()
        clock.advance(86_399)
        with pytest.raises(RetentionHeldError):
            upkeep.drop_partitions()
        clock.advance(1)
        upkeep.drop_partitions()
        assert list_days(own_engine, "judge_reply") == []

    def test_postgres_knows_better_for_as_long_as_they_differ(self, own_engine, clock):
        upkeep = make_upkeep(own_engine, clock, read_database_time=lambda _: NOON)
        clock.jump(2 * 86_400)
        for _ in range(2):
            with pytest.raises(RetentionHeldError, match="that of Postgres 2026-06-15 12:00 UTC"):
                upkeep.drop_partitions()
            clock.advance(86_400)
        assert len(list_days(own_engine, "judge_reply")) == 7

    def test_days_that_hold_nothing_are_no_loss(self, own_engine, upkeep):
        for day in days_from(TODAY - timedelta(days=40), 20):
            ensure_day(own_engine, day=day)  # as for traces that come late
        upkeep.drop_partitions()
        assert len(list_days(own_engine, "judge_reply")) == 7
        assert upkeep.hold.since is None

    def test_three_days_are_dropped_as_ever(self, own_engine, clock, upkeep):
        clock.advance(4 * 86_400)
        upkeep.drop_partitions()
        assert len(list_days(own_engine, "judge_reply")) == 4


def test_texts_of_an_earlier_setting_are_dropped_by_the_job(own_engine, clock):
    PostgresTraceStore(own_engine, clock=clock).admit(make_trace(), (plan_free(),))
    make_upkeep(own_engine, clock).drop_texts()
    store = PostgresTraceStore(own_engine, clock=clock)
    rule = TextRule(keep=StoredTexts.NONE)
    with own_engine.connect() as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM trace_text").scalar_one()
    make_upkeep(own_engine, clock, texts=rule).drop_texts()
    with own_engine.connect() as connection:
        after = connection.exec_driver_sql("SELECT count(*) FROM trace_text").scalar_one()
    assert (before, after) == (1, 0)
    assert store.admit(make_trace(), (plan_free(),)).kind == "duplicate"
