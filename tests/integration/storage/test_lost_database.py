from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_assessment, make_calls, make_result, make_trace, plan_free, plan_paid
from ragsonde.storage.engine import (
    build_engine,
    lost_database,
    ping,
    pipelined_transaction,
    translating_losses,
)
from ragsonde.storage.history import read_history
from ragsonde.storage.ledger import count_states
from ragsonde.storage.partitions import drop_expired, ensure_partitions
from ragsonde.storage.recent_scores import summarise_scores
from ragsonde.storage.sweeping import take_due
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import (
    Cause,
    ConfigError,
    DatabaseLostError,
    GivenUpError,
    LockedOutError,
    ParkReason,
)
from ragsonde_schemas.evaluation import EvaluationState
from services.stores import PostgresStores
from services.waiting import wait_for

pytestmark = pytest.mark.integration

ENVELOPE = Envelope(body=b"x", body_bytes=1, message_key="m", received_at=NOON)

INSERT = "INSERT INTO suspect VALUES ('m', 1, now())"
SETTINGS = ("application_name", "statement_timeout", "lock_timeout", "timezone")


def execute(engine, *statements):
    with pipelined_transaction(engine) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def stores(engine):
    stores = PostgresStores(FakeClock(), engine)
    stores.traces.admit(make_trace("made-partitions"), ())
    return stores


@contextmanager
def killed_while_it_waits_for(engine, table):
    """Holds a table back, and kills the backend that comes to wait for it."""
    waiting = text(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock' AND wait_event = 'relation'"
    )
    with engine.connect() as holder, holder.begin():
        holder.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))

        def kill():
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as killer:
                pid = wait_for(lambda: killer.execute(waiting).scalar(), what="a backend that waits")
                killer.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})

        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(kill)
            yield
            killing.result()


class TestCutOffInTheMiddle:
    @pytest.mark.parametrize("table", ["trace", "trace_text", "evaluation", "assessment", "score"])
    def test_of_an_admission_nothing_is_stored_and_the_next_call_stores_all(self, stores, table):
        trace = make_trace()
        planned = (plan_free(), plan_paid())
        with killed_while_it_waits_for(stores.engine, table), pytest.raises(DatabaseLostError):
            stores.traces.admit(trace, planned)
        assert stores.count_revisions("t-1") == 0
        assert stores.traces.admit(trace, planned).kind == "new"
        assert len(read_history(stores.engine, "t-1").revisions[0].evaluations) == 2

    @pytest.mark.parametrize("table", ["evaluation", "assessment", "judge_reply", "score"])
    def test_of_a_finish_nothing_is_stored_and_the_next_call_stores_all(self, stores, table):
        admission = stores.traces.admit(make_trace(), (plan_paid(),))
        claimed = stores.traces.claim(admission.pending[0])
        result = make_result(assessment=make_assessment(calls=make_calls()))
        with killed_while_it_waits_for(stores.engine, table), pytest.raises(DatabaseLostError):
            stores.traces.finish(claimed, result)
        seen = stores.look(claimed.key)
        assert (seen.state, seen.assessment, seen.outcomes) == (EvaluationState.RUNNING, None, frozenset())
        assert stores.traces.finish(claimed, result) is EvaluationState.SCORED
        assert stores.look(claimed.key).assessment == result.assessment

    def test_a_claim_that_was_cut_off_can_be_made_again(self, stores):
        admission = stores.traces.admit(make_trace(), (plan_paid(),))
        with killed_while_it_waits_for(stores.engine, "evaluation"), pytest.raises(DatabaseLostError):
            stores.traces.claim(admission.pending[0])
        assert stores.traces.claim(admission.pending[0]).unfinished_starts == 1


class TestAway:
    @pytest.fixture
    def away(self):
        engine = build_engine("postgresql://postgres@127.0.0.1:1/nothing", application_name="ragsonde test")
        yield PostgresStores(FakeClock(), engine)
        engine.dispose()

    def test_every_call_on_a_trace_says_that_the_database_is_lost(self, stores, away):
        claimed = stores.traces.claim(stores.traces.admit(make_trace(), (plan_paid(),)).pending[0])
        calls = (
            lambda: away.traces.admit(make_trace(), (plan_free(),)),
            lambda: away.traces.claim(claimed.key),
            lambda: away.traces.finish(claimed, make_result()),
            lambda: away.traces.postpone(claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE),
        )
        for call in calls:
            with pytest.raises(DatabaseLostError, match="Postgres is away"):
                call()

    def test_every_other_call_too(self, away):
        calls = (
            lambda: away.parking.park(ENVELOPE, reason=ParkReason.EMPTY_BODY, message="m", where="body"),
            lambda: away.suspects.start("m", received_at=NOON),
            lambda: away.suspects.clear("m"),
            lambda: take_due(away.engine, now=NOON, limit=1, queued_for_seconds=150),
            lambda: read_history(away.engine, "t-1"),
            lambda: count_states(away.engine, since=NOON),
            lambda: ensure_partitions(away.engine, today=NOON.date()),
            lambda: drop_expired(away.engine, today=NOON.date(), retention={}),
            lambda: summarise_scores(away.engine, since=NOON),
        )
        for call in calls:
            with pytest.raises(DatabaseLostError, match="Postgres is away"):
                call()

    def test_a_connection_in_use_a_moment_ago_is_trusted_and_told_lost_once(self, database_url):
        engine = build_engine(database_url, application_name="trusting", trusted_seconds=3600)
        with pipelined_transaction(engine) as connection:
            (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        with psycopg.connect(database_url, autocommit=True) as killer:
            killer.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        with pytest.raises(DatabaseLostError):
            ping(engine)
        ping(engine)
        engine.dispose()

    def test_a_connection_idle_for_longer_is_replaced_unseen(self, database_url):
        engine = build_engine(database_url, application_name="trusting", trusted_seconds=0.001)
        with pipelined_transaction(engine) as connection:
            (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        with psycopg.connect(database_url, autocommit=True) as killer:
            killer.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        ping(engine)
        engine.dispose()

    def test_idle_connections_that_died_are_replaced_unseen(self, stores):
        stores.traces.admit(make_trace(), ())
        kill = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with stores.engine.connect() as connection:
            connection.execute(kill)
        assert stores.traces.admit(make_trace(), ()).kind == "duplicate"


class TestTelling:
    @pytest.mark.parametrize(
        "error",
        [
            errors.AdminShutdown,
            errors.CrashShutdown,
            errors.CannotConnectNow,
            errors.TooManyConnections,
            errors.ReadOnlySqlTransaction,
            errors.ConnectionFailure,
            errors.DiskFull,
            errors.LockNotAvailable,
            errors.ConnectionTimeout,
            psycopg.OperationalError,
        ],
    )
    def test_what_may_pass_is_a_loss(self, error):
        assert lost_database(error("x"))
        assert lost_database(DBAPIError("SELECT 1", {}, error("x")))

    @pytest.mark.parametrize(
        "error",
        [
            errors.QueryCanceled,
            errors.DeadlockDetected,
            errors.SerializationFailure,
            errors.UndefinedTable,
            errors.SyntaxError,
            errors.UniqueViolation,
            errors.CheckViolation,
            errors.InvalidTextRepresentation,
            errors.PipelineAborted,
            errors.InsufficientPrivilege,
            psycopg.ProgrammingError,
            psycopg.InterfaceError,
            ValueError,
        ],
    )
    def test_what_is_one_statements_fault_is_not(self, error):
        assert not lost_database(error("x"))
        assert not lost_database(InterfaceError("SELECT 1", {}, error("x")))

    def test_a_pool_without_a_free_connection_is_a_loss(self):
        assert lost_database(PoolTimeoutError())

    def test_a_fault_of_ours_passes_as_it_is(self, engine):
        with pytest.raises(errors.UndefinedTable):
            execute(engine, "SELECT * FROM nothing_like_that")

    @pytest.mark.parametrize("error", [errors.QueryCanceled, errors.DeadlockDetected])
    def test_what_postgres_gave_up_on_is_told_apart_in_both_drivers(self, error):
        for raised in (error("too slow"), DBAPIError("SELECT 1", {}, error("too slow"))):
            with pytest.raises(GivenUpError, match="gave up on a statement: too slow"), translating_losses():
                raise raised

    def test_a_table_that_somebody_keeps_is_a_loss(self, engine):
        with engine.connect() as holder, holder.begin():
            holder.execute(text("LOCK TABLE suspect IN ACCESS EXCLUSIVE MODE"))
            with pytest.raises(LockedOutError) as raised:
                execute(engine, "SET LOCAL lock_timeout = '10ms'", INSERT)
        assert isinstance(raised.value, DatabaseLostError)

    def test_no_content_of_traces_is_in_an_error(self, engine):
        with pytest.raises(DBAPIError) as raised, translating_losses(), engine.connect() as connection:
            connection.execute(text("SELECT 1 / CAST(:secret AS integer)"), {"secret": "hush"})
        assert "hush" not in str(raised.value).partition("[SQL")[2]

    def test_a_server_that_became_a_standby_is_a_loss(self, engine):
        with pytest.raises(DatabaseLostError):
            execute(engine, "SET TRANSACTION READ ONLY", "DELETE FROM suspect")


class TestTransaction:
    def test_what_was_done_before_an_error_is_undone(self, stores):
        with pytest.raises(errors.DivisionByZero):
            execute(stores.engine, INSERT, "SELECT 1 / 0")
        assert stores.suspects.start("m", received_at=NOON) == 1

    def test_an_error_that_comes_with_the_commit_undoes_all(self, stores, caplog):
        with pytest.raises(errors.UniqueViolation):
            execute(stores.engine, INSERT, INSERT)
        assert stores.suspects.start("m", received_at=NOON) == 1
        assert caplog.messages == []

    def test_the_connection_serves_again_afterwards(self, database_url):
        engine = build_engine(database_url, application_name="ragsonde test", pool_size=1)
        pids = set()
        for _ in range(3):
            with pytest.raises(errors.SyntaxError):
                execute(engine, "SELEC")
            with engine.connect() as connection:
                pids.add(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
                connection.rollback()
                assert connection.connection.driver_connection.autocommit is False
        engine.dispose()
        assert len(pids) == 1


class TestEngine:
    def test_it_says_who_it_is_and_gives_up_on_a_statement(self, engine):
        with engine.connect() as connection:
            shown = [connection.execute(text(f"SHOW {name}")).scalar_one() for name in SETTINGS]
        assert shown == ["ragsonde test", "30s", "10s", "UTC"]

    @pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
    def test_a_peer_that_takes_a_statement_and_confirms_nothing_is_given_up_after_a_minute(self, engine):
        with engine.connect() as connection:
            number = connection.connection.driver_connection.fileno()
            with socket.socket(fileno=os.dup(number)) as opened:
                if opened.family == socket.AF_UNIX:
                    pytest.skip("a unix socket has no network")
                assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000

    def test_a_ping_answers_or_tells_the_loss(self, engine):
        ping(engine)
        away = build_engine("postgresql://postgres@127.0.0.1:1/nothing", application_name="ragsonde test")
        with pytest.raises(DatabaseLostError):
            ping(away)
        away.dispose()

    def test_no_statement_stays_prepared_as_pgbouncer_would_lose_it(self, stores):
        for number in range(8):
            stores.traces.admit(make_trace(f"t-{number}"), (plan_free(),))
        with stores.engine.connect() as connection:
            for _ in range(8):
                prepared = connection.execute(
                    text("SELECT count(*) FROM pg_prepared_statements")
                ).scalar_one()
        assert prepared == 0

    def test_it_does_not_connect_before_it_is_used(self):
        build_engine("postgresql://nobody@127.0.0.1:1/nothing", application_name="x").dispose()

    @pytest.mark.parametrize("url", ["mysql://u:hush@h/d", "sqlite://", "no url", ""])
    def test_another_database_is_a_config_error_that_keeps_the_secret(self, url):
        with pytest.raises(ConfigError, match="expected postgresql://") as raised:
            build_engine(url, application_name="x")
        assert "hush" not in str(raised.value)

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
    def test_all_spellings_of_the_scheme_are_taken(self, scheme):
        url = f"{scheme}://u@/d?host=/tmp/socket"
        assert build_engine(url, application_name="x").dialect.driver == "psycopg"
