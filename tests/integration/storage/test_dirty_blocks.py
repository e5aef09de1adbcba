"""What changes the scores of a block is found, once, whoever changed it and whenever it is committed."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_free, plan_paid
from ragsonde.storage.changed_blocks import CHANGES, OVERLAP, ChangedBlocks
from ragsonde.storage.dirty_marks import delete_marks, list_dirty, mark_stretch, tidy_marks
from ragsonde.storage.locks import MIGRATION_LOCK, GaveWayError
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.reopening import Reopening, reopen_evaluation
from ragsonde_schemas.evaluation import EvaluationState
from services.block_ground import BlockGround, minutes
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
FIRST_DAY = date(2026, 3, 18)
LONG_BEFORE = datetime(2020, 1, 1, tzinfo=UTC)


class Looking:
    """A monitor that looks, and what it has marked since it was last asked."""

    def __init__(self, engine, clock=None) -> None:
        self.ground = BlockGround(engine, clock)
        self.restart()
        self.look()
        self.take()

    def restart(self) -> None:
        self.changed = ChangedBlocks(self.ground.engine)

    def look(self, *, after_minutes=0.0):
        self.ground.clock.advance(60 * after_minutes)
        return self.changed.look(now=self.ground.clock.now(), first_day=FIRST_DAY)

    def take(self) -> list[tuple[str | None, datetime]]:
        """What is marked; the marks are deleted."""
        marked = self.ground.list_marks()
        with self.ground.engine.begin() as connection:
            connection.execute(text("DELETE FROM dirty_mark"))
        return marked

    def find(self) -> list[tuple[str | None, datetime]]:
        self.look(after_minutes=1)
        return self.take()


@pytest.fixture
def looking(engine):
    return Looking(engine)


class TestLooking:
    def test_an_evaluation_that_ends_marks_the_block_in_which_its_trace_occurred(self, looking):
        looking.ground.admit("t-1", occurred_at=NOON - timedelta(days=3, minutes=-7))
        assert looking.find() == [("shop", NOON - timedelta(days=3) + minutes(5))]

    def test_one_that_waits_marks_none_until_it_has_ended(self, looking):
        trace = make_trace(occurred_at=NOON)
        (key,) = looking.ground.stores.traces.admit(trace, (plan_paid(),)).pending
        assert looking.find() == []
        looking.ground.clock.advance(1800)
        looking.ground.finish(key)
        assert looking.find() == [("shop", NOON)]

    def test_what_was_seen_is_not_marked_again_while_the_looks_overlap(self, looking):
        looking.ground.admit("t-1")
        assert looking.find() != []
        assert [looking.find() for _ in range(15)] == [[]] * 15

    def test_one_more_score_in_the_same_minute_is_seen(self, looking):
        looking.ground.admit("t-1", occurred_at=NOON)
        looking.look()
        looking.take()
        looking.ground.admit("t-2", occurred_at=NOON)
        assert looking.find() == [("shop", NOON)]

    def test_scores_that_take_the_place_of_as_many_in_the_same_minute_are_seen(self, looking):
        looking.ground.admit("t-1", occurred_at=NOON)
        looking.look()
        looking.take()
        with looking.ground.engine.begin() as connection:
            connection.execute(text("UPDATE score SET created_at = created_at + interval '1 second'"))
        assert looking.find() == [("shop", NOON)]

    def test_what_is_committed_minutes_after_its_time_is_found(self, looking):
        slow = PostgresStores(FakeClock(looking.ground.clock.now()), looking.ground.engine)
        looking.look(after_minutes=8)
        slow.traces.admit(make_trace(occurred_at=NOON), (plan_free(),))
        assert looking.find() == [("shop", NOON)]

    def test_a_revision_marks_the_blocks_of_all_that_it_supersedes(self, looking):
        for number in range(2):
            looking.ground.admit("t-1", raw=0.1 * number, occurred_at=NOON + minutes(10 * number))
        looking.look(after_minutes=30)
        looking.look(after_minutes=30)
        looking.take()
        trace = make_trace("t-1", answer="unscored", occurred_at=NOON + minutes(30))
        looking.ground.stores.traces.admit(trace, (plan_paid(),))
        assert looking.find() == [("shop", NOON), ("shop", NOON + minutes(10))]

    def test_a_monitor_that_takes_over_marks_no_more_than_the_overlap(self, looking):
        looking.ground.admit("old", occurred_at=NOON)
        looking.ground.clock.advance(60 * 20)
        looking.look()
        looking.ground.admit("new", occurred_at=NOON + minutes(20))
        looking.look()
        looking.take()
        looking.restart()
        assert looking.find() == [("shop", NOON + minutes(20))]

    def test_what_happened_while_no_monitor_ran_is_found_an_hour_a_look(self, looking):
        for hour in range(5):
            looking.ground.admit(f"t-{hour}", occurred_at=NOON + timedelta(hours=hour))
            looking.ground.clock.advance(3600)
        looking.restart()
        looks = []
        while not looks or not looks[-1].is_up_to_date:
            looks.append(looking.look())
        assert len(looks) == 5
        assert looking.take() == [("shop", NOON + timedelta(hours=hour)) for hour in range(5)]

    def test_a_worker_whose_clock_is_ahead_is_found(self, looking):
        ahead = PostgresStores(FakeClock(NOON + timedelta(hours=7)), looking.ground.engine)
        ahead.traces.admit(make_trace(occurred_at=NOON), (plan_free(),))
        assert looking.find() == [("shop", NOON)]

    def test_a_monitor_whose_clock_ran_ahead_of_postgres_misses_nothing(self, engine):
        looking = Looking(engine, FakeClock(datetime.now(UTC)))
        looking.ground.clock.jump(timedelta(days=1).total_seconds())
        assert looking.look().is_up_to_date
        looking.ground.clock.jump(-timedelta(days=1).total_seconds())
        looking.ground.admit("t-1")
        assert len(looking.find()) == 1

    def test_the_first_look_marks_all_that_is_kept_and_the_next_only_what_is_new(self, engine):
        ground = BlockGround(engine)
        ground.admit("t-1")
        changed = ChangedBlocks(engine)
        changed.look(now=ground.clock.now(), first_day=FIRST_DAY)
        ((since, until),) = ground.query("SELECT since, until FROM dirty_mark")
        assert since == datetime(2026, 3, 18, tzinfo=UTC)
        assert until >= NOON + timedelta(days=2)
        ground.clock.advance(60)
        assert changed.look(now=ground.clock.now(), first_day=FIRST_DAY).marked == 1

    def test_days_that_retention_has_reached_are_left(self, looking):
        looking.ground.admit("t-1", occurred_at=datetime(2026, 3, 17, 23, 59, tzinfo=UTC))
        looking.ground.admit("t-2", occurred_at=datetime(2026, 3, 18, tzinfo=UTC))
        assert looking.find() == [("shop", datetime(2026, 3, 18, tzinfo=UTC))]

    def test_it_gives_way_to_a_migration_and_finds_it_all_afterwards(self, looking):
        looking.ground.admit("t-1", occurred_at=NOON)
        with looking.ground.engine.begin() as migration:
            migration.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            with pytest.raises(GaveWayError):
                looking.look()
        assert looking.find() == [("shop", NOON)]

    def test_it_reads_nothing_of_days_in_which_nothing_was_stored_lately(self, own_engine):
        """By BRIN of what was scored, and by the keys of what it was scored of."""
        ensure_partitions(own_engine, today=NOON.date() - timedelta(days=9), days_ahead=12)
        fill_days(own_engine, days=10, traces=4_000)
        columns = {"since": NOON - OVERLAP, "until": None, "first_day": FIRST_DAY}
        with own_engine.connect() as connection:
            explained = connection.execute(
                text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {CHANGES}"), columns
            )
            plan = "\n".join(explained.scalars())
        scans = re.findall(r"Scan (?:using \S+ )?on (\w+)_(\d{8}) [^\n]*?\((?:actual rows=(\d+)|never)", plan)
        read = {(table, day): int(rows or 0) for table, day, rows in scans if rows not in {"", "0"}}
        assert read == {("score", "20260615"): 8_000, ("trace", "20260615"): 1}, plan
        assert "Removed by Index Recheck" not in plan


def fill_days(engine, *, days, traces):
    """Traces of as many days, each stored and scored when it occurred, summarised as autovacuum does."""
    with engine.begin() as connection:
        for back in range(days):
            day = NOON.date() - timedelta(days=back)
            connection.execute(
                text(FILL_TRACES), {"day": day, "noon": NOON - timedelta(days=back), "n": traces}
            )
            connection.execute(text(FILL_SCORES), {"day": day})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in ("trace", "score"):
            connection.execute(text(f"VACUUM ANALYZE {table}"))
            for back in range(days):
                name = f"{table}_{NOON.date() - timedelta(days=back):%Y%m%d}"
                index = connection.execute(
                    text(
                        "SELECT indexname FROM pg_indexes WHERE tablename = :name AND indexdef LIKE '%brin%'"
                    ),
                    {"name": name},
                ).scalar_one()
                connection.execute(text("SELECT brin_summarize_new_values(:name)"), {"name": index})


FILL_TRACES = """
INSERT INTO trace (trace_id, app, record_key, revision, day, content_hash, admitted_at, occurred_at,
    occurred_at_guessed, environment, release, variant, sampling_probability, tags, usage, metadata, extra,
    wish, extraction)
SELECT md5(:day::text || i), 'shop', '', 1, :day, md5(i::text), moment, moment, false, '', '', '', 1, '{}',
    '{}', '{}', '{}', '{}', '{}'
FROM generate_series(1, :n) i,
    LATERAL (SELECT CAST(:noon AS timestamptz) - interval '9 minutes' * i / :n AS moment) one
""".replace(":day::text", "CAST(CAST(:day AS date) AS text)")
FILL_SCORES = """
INSERT INTO score (trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version, created_at,
    status, raw, value, reason, details)
SELECT trace_id, app, record_key, revision, day, 'lexical', 'f', scorer, '1', admitted_at, 'scored', 0.5, 5,
    repeat('why', 20), '{}'
FROM trace, unnest(ARRAY['a', 'b']) AS scorer WHERE day = :day
"""


class TestMarking:
    """What no look can find is marked in the transaction that changes it."""

    @pytest.fixture
    def admitted(self, looking):
        admitted = looking.ground.admit("t-1", occurred_at=NOON)
        looking.ground.admit("t-2", occurred_at=NOON, app="desk")
        looking.ground.clock.advance(3600)
        looking.look()
        looking.take()
        return admitted

    def test_scores_by_other_options(self, looking, admitted):
        looking.ground.rescore(admitted, raw=0.3)
        assert looking.take() == [("shop", NOON)]

    def test_traces_that_are_forgotten(self, looking, admitted):
        looking.ground.forget(admitted.key.trace_id)
        assert looking.take() == [("shop", NOON)]

    def test_a_record_that_is_withdrawn_once(self, looking, admitted):
        looking.ground.stores.traces.withdraw(admitted.key)
        assert looking.take() == [("shop", NOON)]
        looking.ground.stores.traces.withdraw(admitted.key)
        assert looking.take() == []

    def test_an_evaluation_that_is_opened_again(self, looking):
        (key,) = looking.ground.admit("t-1", occurred_at=NOON, paid=True).pending
        looking.ground.finish(key, state=EvaluationState.FAILED)
        looking.look()
        looking.take()
        assert reopen_evaluation(looking.ground.engine, key, now=NOON) is Reopening.REOPENED
        assert looking.take() == [("shop", NOON)]

    def test_a_transaction_that_is_undone_marks_nothing(self, looking, admitted, monkeypatch):
        def fail(*_):
            raise RuntimeError

        monkeypatch.setattr("ragsonde.storage.erasure.release", fail)
        with looking.ground.engine.begin() as connection:
            connection.execute(text("UPDATE evaluation SET reserved_at = now(), reserved_calls = 1"))
        with pytest.raises(RuntimeError):
            looking.ground.forget(admitted.key.trace_id)
        assert looking.take() == []


class TestMarks:
    @pytest.fixture
    def mark(self, engine):
        BlockGround(engine).admit("t-1")

        def write(since, until, place=None):
            with engine.begin() as connection:
                mark_stretch(connection, since=since, until=until, place=place)

        return write

    @pytest.fixture
    def list_all(self, engine):
        def read(before=None, most=100):
            return list_dirty(engine, ended_by=NOON + timedelta(days=1), before=before, most=most)

        return read

    def test_a_stretch_becomes_one_mark_a_block_from_its_first_to_its_last(self, engine, mark, list_all):
        mark(NOON + minutes(1), NOON + minutes(11), ("shop", "test"))
        tidy_marks(engine, oldest=LONG_BEFORE)
        assert [(one.start, one.places) for one in list_all()] == [
            (NOON + minutes(5 * number), {("shop", "test")}) for number in (2, 1, 0)
        ]

    def test_of_days_without_a_trace_and_without_a_count_it_becomes_none(self, engine, mark, list_all):
        mark(NOON - timedelta(days=30), NOON)
        tidy_marks(engine, oldest=LONG_BEFORE)
        assert {one.start.date() for one in list_all(most=999)} == {NOON.date()}
        assert len(list_all(most=999)) == 144
        assert len(list_all()) == 100

    def test_a_stretch_that_ends_on_the_grid_does_not_reach_into_the_next_block(self, engine, mark, list_all):
        mark(NOON, NOON + minutes(10))
        tidy_marks(engine, oldest=LONG_BEFORE)
        assert [(one.start, one.places) for one in list_all()] == [
            (NOON + minutes(5), None),
            (NOON, None),
        ]

    def test_marks_of_one_block_are_counted_at_once_and_all_means_all(self, mark, list_all):
        for place in (("shop", ""), ("desk", ""), ("shop", "")):
            mark(NOON, NOON + minutes(5), place)
        (dirty,) = list_all()
        assert (dirty.places, len(dirty.marks)) == ({("shop", ""), ("desk", "")}, 3)
        mark(NOON, NOON + minutes(5))
        (dirty,) = list_all()
        assert (dirty.places, len(dirty.marks)) == (None, 4)

    def test_a_mark_that_comes_while_its_block_is_counted_stays(self, engine, mark, list_all):
        mark(NOON, NOON + minutes(5), ("shop", ""))
        (dirty,) = list_all()
        mark(NOON, NOON + minutes(5), ("shop", ""))
        delete_marks(engine, dirty.marks)
        (left,) = list_all()
        assert set(left.marks).isdisjoint(dirty.marks)

    def test_the_newest_come_first_in_batches(self, mark, list_all):
        for number in range(5):
            mark(NOON + minutes(5 * number), NOON + minutes(5 * number + 5))
        first = list_all(most=3)
        assert [one.start for one in first] == [NOON + minutes(5 * number) for number in (4, 3, 2)]
        assert [one.start for one in list_all(before=first[-1].start)] == [NOON + minutes(5), NOON]

    def test_blocks_that_have_not_ended_wait(self, engine, mark):
        mark(NOON, NOON + minutes(5))
        assert list_dirty(engine, ended_by=NOON + minutes(4), before=None, most=9) == ()
        assert len(list_dirty(engine, ended_by=NOON + minutes(5), before=None, most=9)) == 1

    def test_what_is_counted_no_more_is_dropped_and_the_rest_of_a_stretch_stays(self, engine, mark, list_all):
        mark(NOON - minutes(20), NOON - minutes(10))
        mark(NOON - minutes(5), NOON + minutes(5))
        assert tidy_marks(engine, oldest=NOON) == 1
        assert [one.start for one in list_all()] == [NOON]
