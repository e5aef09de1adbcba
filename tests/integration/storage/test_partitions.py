from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta

import psycopg
import pytest
from psycopg.errors import QueryCanceled
from psycopg.sql import SQL, Identifier
from sqlalchemy import create_engine, text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_result, make_trace, plan_free, plan_paid
from ragsonde.storage.partitions import drop_expired, ensure_day, ensure_partitions, list_partitions
from ragsonde.storage.table_names import PARTITIONED
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import Cause, LockedOutError, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
TODAY = date(2026, 6, 15)


@pytest.fixture
def stores(own_engine):
    return PostgresStores(FakeClock(), own_engine)


def list_names(engine, *, attached_only=True):
    with engine.connect() as connection:
        partitions = list(list_partitions(connection))
    return {partition.name for partition in partitions if partition.is_attached or not attached_only}


def names_of(*days):
    return {f"{table}_{day:%Y%m%d}" for table in PARTITIONED for day in days}


def days_from(first, count):
    return [first + timedelta(days=offset) for offset in range(count)]


def cut_off_detaching(engine, name):
    """Leaves a partition of score half detached: a reader holds the table until the statement times out."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with engine.connect() as reader, reader.begin(), psycopg.connect(url, autocommit=True) as connection:
        reader.execute(text("SELECT count(*) FROM score"))
        connection.execute("SET statement_timeout = '200ms'")
        with pytest.raises(QueryCanceled):
            connection.execute(
                SQL("ALTER TABLE score DETACH PARTITION {} CONCURRENTLY").format(Identifier(name))
            )


class TestMaking:
    def test_today_and_seven_days_ahead_have_a_partition_in_each_table(self, own_engine):
        made = ensure_partitions(own_engine, today=TODAY)
        assert set(made) == list_names(own_engine) == names_of(*days_from(TODAY, 8))

    def test_again_nothing_is_made_and_the_next_day_one_day_is(self, own_engine):
        ensure_partitions(own_engine, today=TODAY)
        assert ensure_partitions(own_engine, today=TODAY) == []
        tomorrow = TODAY + timedelta(days=1)
        assert set(ensure_partitions(own_engine, today=tomorrow)) == names_of(TODAY + timedelta(days=8))

    def test_eight_at_once_make_each_partition_once(self, own_engine):
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: ensure_partitions(own_engine, today=TODAY), range(8)))
        assert sorted(name for names in made for name in names) == sorted(names_of(*days_from(TODAY, 8)))

    def test_a_partition_has_the_indexes_and_constraints_of_its_parent(self, own_engine):
        ensure_day(own_engine, day=TODAY)
        kinds = text(
            "SELECT conrelid::regclass::text, contype FROM pg_constraint"
            " WHERE conrelid::regclass::text IN ('score', 'score_20260615') ORDER BY 1, 2"
        )
        indexes = text(
            "SELECT count(*) FROM pg_indexes WHERE tablename = 'score_20260615'"
            " AND (indexdef LIKE '%USING brin (created_at)%' OR indexdef LIKE '%UNIQUE%')"
        )
        with own_engine.connect() as connection:
            rows = connection.execute(kinds).all()
            assert connection.execute(indexes).scalar_one() == 2
        parent = [kind for table, kind in rows if table == "score"]
        assert [kind for table, kind in rows if table == "score_20260615"] == parent

    def test_writers_are_not_stopped(self, stores):
        ensure_day(stores.engine, day=TODAY)
        with stores.engine.connect() as writer, writer.begin():
            writer.execute(text("LOCK TABLE score, trace, evaluation IN ROW EXCLUSIVE MODE"))
            made = ensure_day(stores.engine, day=TODAY + timedelta(days=1))
        assert len(made) == len(PARTITIONED)


class TestOnDemand:
    def test_a_late_day_gets_its_partitions_when_its_first_record_comes(self, stores):
        late = make_trace(occurred_at=NOON - timedelta(days=30))
        assert stores.traces.admit(late, (plan_free(), plan_paid())).kind == "new"
        assert list_names(stores.engine) == names_of(date(2026, 5, 16))

    def test_eight_late_records_at_once_are_all_stored(self, stores):
        def admit(number):
            trace = make_trace(f"t-{number}", occurred_at=NOON - timedelta(days=30 + number % 2))
            return stores.traces.admit(trace, (plan_free(), plan_paid())).kind

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(admit, range(8))) == ["new"] * 8

    @pytest.mark.parametrize("days", [-91, 3])
    def test_a_day_outside_the_retention_is_refused(self, stores, days):
        trace = make_trace(occurred_at=NOON + timedelta(days=days))
        with pytest.raises(ValueError, match="no partition for the day"):
            stores.traces.admit(trace, (plan_free(),))
        assert list_names(stores.engine) == set()

    def test_a_violated_constraint_is_no_missing_partition(self, stores):
        planned = plan_paid(EvaluationState.SAMPLED_OUT).model_copy(update={"fingerprint": None})
        with pytest.raises(Exception, match="null value"):
            stores.traces.admit(make_trace(), (planned,))

    def test_replies_are_stored_though_their_partition_was_dropped_while_it_waited(self, stores):
        admission = stores.traces.admit(make_trace(), (plan_paid(),))
        claimed = stores.traces.claim(admission.pending[0])
        drop_expired(stores.engine, today=TODAY + timedelta(days=8), retention={"score": 7, "assessment": 7})
        assert stores.traces.finish(claimed, make_result()) is EvaluationState.SCORED
        assert len(stores.look(claimed.key).outcomes) == 2


class TestDropping:
    def test_each_table_is_emptied_at_its_own_age(self, own_engine):
        ensure_partitions(own_engine, today=TODAY, days_ahead=2)
        dropped = drop_expired(
            own_engine, today=TODAY + timedelta(days=8), retention={"score": 7, "trace": 6}
        )
        assert set(dropped) == {"score_20260615", "trace_20260615", "trace_20260616"}
        assert list_names(own_engine) == names_of(*days_from(TODAY, 3)) - set(dropped)

    def test_what_is_not_named_is_kept(self, own_engine):
        ensure_day(own_engine, day=TODAY)
        assert drop_expired(own_engine, today=TODAY + timedelta(days=10_000), retention={}) == []

    def test_it_leaves_the_lock_to_its_caller_and_needs_one_connection(self, own_engine, database_url):
        ensure_day(own_engine, day=TODAY)
        engine = create_engine(
            database_url.replace("postgresql:", "postgresql+psycopg:"),
            pool_size=1,
            max_overflow=0,
            pool_timeout=0.5,
        )
        assert len(drop_expired(engine, today=TODAY + timedelta(days=2), retention={"score": 1})) == 1
        engine.dispose()

    def test_readers_of_the_table_see_the_rest_all_the_while(self, stores):
        for days in (0, 1):
            trace = make_trace(occurred_at=NOON + timedelta(days=days))
            stores.traces.admit(trace, (plan_free(),))
        drop_expired(stores.engine, today=TODAY + timedelta(days=8), retention={"score": 7})
        with stores.engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM score")).scalar_one() == 2

    def test_a_drop_that_was_cut_off_is_ended_by_the_next(self, own_engine):
        ensure_partitions(own_engine, today=TODAY, days_ahead=1)
        cut_off_detaching(own_engine, "score_20260615")
        assert drop_expired(own_engine, today=TODAY, retention={}) == ["score_20260615"]
        assert "score_20260615" not in list_names(own_engine, attached_only=False)

    def test_a_long_read_delays_its_table_alone_and_sees_what_it_began_with(self, stores):
        stores.traces.admit(make_trace(), (plan_free(),))
        hasty = create_engine(stores.engine.url, connect_args={"options": "-c lock_timeout=300ms"})
        count = text("SELECT count(*) FROM assessment")
        retention = {"score": 7, "assessment": 7}
        with stores.engine.connect() as reader, reader.begin():
            assert reader.execute(count).scalar_one() == 1
            with pytest.raises(LockedOutError):
                drop_expired(hasty, today=TODAY + timedelta(days=8), retention=retention)
            assert "score_20260615" not in list_names(stores.engine, attached_only=False)
        dropped = drop_expired(hasty, today=TODAY + timedelta(days=8), retention=retention)
        hasty.dispose()
        assert dropped == ["assessment_20260615"]

    def test_a_partition_detached_and_left_is_dropped_by_the_next(self, own_engine):
        ensure_day(own_engine, day=TODAY)
        with own_engine.begin() as connection:
            connection.execute(text("ALTER TABLE score DETACH PARTITION score_20260615"))
        assert drop_expired(own_engine, today=TODAY, retention={}) == ["score_20260615"]
        assert "score_20260615" not in list_names(own_engine, attached_only=False)

    @pytest.mark.parametrize("is_cut_off", [False, True])
    def test_a_late_record_of_a_day_that_is_being_dropped_gets_a_new_partition(self, stores, is_cut_off):
        ensure_day(stores.engine, day=TODAY)
        if is_cut_off:
            cut_off_detaching(stores.engine, "score_20260615")
        else:
            with stores.engine.begin() as connection:
                connection.execute(text("ALTER TABLE score DETACH PARTITION score_20260615"))
        assert stores.traces.admit(make_trace(), (plan_free(),)).kind == "new"
        assert "score_20260615" in list_names(stores.engine)

    def test_tables_without_partitions_lose_what_is_over_their_age(self, stores):
        def park(name):
            envelope = Envelope(body=b"", body_bytes=0, message_key=name, received_at=NOON)
            stores.parking.park(envelope, reason=ParkReason.EMPTY_BODY, message="empty", where="body")
            stores.suspects.start(name, received_at=stores.clock.now())

        park("old-0")
        repeat = (
            "INSERT INTO suspect SELECT 'old-' || n, 1, started_at FROM suspect, generate_series(1, 1100) n"
        )
        with stores.engine.begin() as connection:
            connection.execute(text(repeat))
        stores.clock.advance(86_400)
        park("new")
        retention = {"parked_message": 30, "suspect": 30}
        drop_expired(stores.engine, today=TODAY + timedelta(days=31), retention=retention)
        assert stores.count_parked() == 1
        with stores.engine.connect() as connection:
            assert connection.execute(text("SELECT message_key FROM suspect")).scalars().all() == ["new"]


@pytest.mark.parametrize("is_all_gone", [False, True])
def test_what_waits_for_a_judge_longer_than_its_texts_are_kept_can_still_be_ended(stores, is_all_gone):
    trace = make_trace(release="1.2")
    admission = stores.traces.admit(trace, (plan_free(), plan_paid()))
    retention = {"trace_text": 14} | ({"trace": 14} if is_all_gone else {})
    drop_expired(stores.engine, today=TODAY + timedelta(days=15), retention=retention)
    claimed = stores.traces.claim(admission.pending[0])
    assert claimed.is_expired
    assert claimed.trace.key == trace.key
    assert claimed.trace.release == ("" if is_all_gone else "1.2")
    failed = make_result(EvaluationState.FAILED).model_copy(update={"cause": Cause.CONTENT_EXPIRED})
    assert stores.traces.finish(claimed, failed) is EvaluationState.FAILED
    seen = stores.look(claimed.key) if not is_all_gone else None
    assert seen is None or (seen.cause, len(seen.outcomes)) == (Cause.CONTENT_EXPIRED, 2)
