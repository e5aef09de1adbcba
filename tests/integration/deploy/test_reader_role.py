"""The role `ragsonde_reader` of deploy/postgres/roles.sql: enough for gates and reports, and no writing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from fakes.clock import FakeClock
from fakes.evaluations import make_assessment, make_calls, make_result, make_trace, plan_paid
from fakes.watched_traces import admit, leave, leave_empty
from ragsonde.cli.main import run
from ragsonde.storage.engine import build_engine
from ragsonde.storage.tables import Tables
from ragsonde_schemas.evaluation import EvaluationState
from services.deployed_roles import deployed_roles
from services.release_ground import ReleaseGround
from services.steering_ground import SteeringGround
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

READER = "ragsonde_reader"
NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
DENIED = psycopg.errors.InsufficientPrivilege
COMPARED = ("compare", "--app", "shop", "--new", "release=2.4", "--against", "2.3")
KEPT_FROM_READERS = {
    *("trace_text", "judge_reply", "span_buffer", "open_record", "user_key", "tombstone", "tombstone_salt"),
    *("suspect", "dirty_mark", "label_budget", "sample_rate", "judge_state", "judge_spend", "judge_answers"),
    *("alert_notice", "baseline", "block_change", "extraction_block", "monitor_state", "score_block"),
    *("score_block_cursor", "stream_arming"),
}
TEXTS = [
    *(("trace", name) for name in ("user_id", "session_id", "metadata", "extra")),
    *(("parked_message", name) for name in ("body", "headers", "message", "names")),
    *(("check_set", name) for name in ("user_id", "session_id")),
    *(("check_result", "verdicts"), ("backfill", "message")),
]


@pytest.fixture(scope="module")
def roles(postgres_server):
    with deployed_roles(postgres_server) as made:
        engine = build_engine(made.admin_url, application_name="ragsonde test")
        try:
            _fill(engine)
        finally:
            engine.dispose()
        yield made


def _fill(engine):
    """What each of the commands has something to say about."""
    ground = SteeringGround(engine, clock=FakeClock(NOW - 10 * DAY))
    ground.fall(ground.begin())
    releases = ReleaseGround(engine)
    releases.store("2.3", 0.9, traces=200)
    releases.store("2.4", 0.4, traces=200)
    stores = PostgresStores(FakeClock(NOW), engine)
    leave_empty(stores, "empty", occurred_at=NOW - DAY)
    leave(stores, "failed", EvaluationState.FAILED, occurred_at=NOW - DAY)
    admit(stores, "earlier", raw=0.7, occurred_at=NOW - 11 * DAY)
    paid = make_trace("paid", answer="paid", occurred_at=NOW - DAY, environment="production")
    (key,) = stores.traces.admit(paid, (plan_paid(),)).pending
    judged = make_result(assessment=make_assessment(calls=make_calls()[:1]))
    stores.traces.finish(stores.traces.claim(key), judged)


@pytest.fixture
def call(roles, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run_command(*words):
        with pytest.raises(SystemExit) as ended:
            run([*words, "--database-url", roles.url(READER)])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run_command


def test_a_gate_compares_releases_with_it(call):
    code, out, err = call(*COMPARED, "--output", "json")
    assert (code, err, json.loads(out)["verdict"]) == (1, "", "worse")


@pytest.mark.parametrize(
    "words",
    [("alerts", "list"), ("alerts", "show", "1"), ("report", "--since", "10d"), ("ledger",)],
    ids=" ".join,
)
def test_a_job_reads_with_it(call, words):
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    assert "shop" in out or "every invariant holds" in out


def test_what_changes_something_is_refused(call):
    code, _, err = call("alerts", "ack", "1")
    assert code not in {0, 1}
    assert "Traceback" not in err


def test_it_may_select_and_nothing_else(roles):
    with psycopg.connect(roles.admin_url) as connection:
        rights = connection.execute(
            "SELECT DISTINCT table_name, privilege_type FROM information_schema.column_privileges"
            " WHERE grantee = %(role)s UNION SELECT table_name, privilege_type"
            " FROM information_schema.table_privileges WHERE grantee = %(role)s",
            {"role": roles.name(READER)},
        ).fetchall()
        routines = connection.execute(
            "SELECT count(*) FROM information_schema.routine_privileges WHERE grantee = %s",
            [roles.name(READER)],
        ).fetchone()
    assert {right for _, right in rights} == {"SELECT"}
    assert routines == (0,)
    others = {"alembic_version", "current_score"}
    assert {name for name, _ in rights} == Tables.metadata.tables.keys() - KEPT_FROM_READERS | others


@pytest.mark.parametrize(
    "statement",
    [
        *(f"TABLE {table}" for table in sorted(KEPT_FROM_READERS)),
        *(f"SELECT {column} FROM {table}" for table, column in TEXTS),  # noqa: S608  # constants
        *(f"DELETE FROM {table}" for table in sorted(Tables.metadata.tables)),  # noqa: S608  # constants
        "UPDATE alert SET closed_at = now()",
        "INSERT INTO scorer_version (scorer, version) VALUES ('a', '1')",
        "TRUNCATE score",
        "DROP TABLE trace",
        "CREATE TABLE mine (x int)",
        "CREATE TEMPORARY TABLE mine (x int)",
        "SELECT ragsonde_make_partition('trace', current_date)",
        "SET ROLE {owner}",
    ],
)
def test_it_may_not(roles, statement):
    with psycopg.connect(roles.url(READER), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")  # a habit, not what keeps it out
        with pytest.raises(DENIED):
            connection.execute(statement.format(owner=roles.name("ragsonde_owner")))


def test_its_transactions_only_read(roles):
    with psycopg.connect(roles.url(READER), autocommit=True) as connection:
        assert connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",)
