"""deploy/postgres/roles.sql on a real Postgres: enough for every process, and no more."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from builders.rag_messages import make_messages
from ragsonde.storage.engine import build_engine
from ragsonde.storage.partitions import ensure_day, name_partition
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.tables import Tables
from services.deployed_roles import deployed_roles
from services.deployments import Deployment
from services.grafana import NAMES, fill_statement, list_asked, list_marks, read_dashboard
from services.mock_llm_process import running_llm
from services.rabbitmq import own_vhost, require_rabbitmq
from services.waiting import wait_for

pytestmark = pytest.mark.integration

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "langchain_openinference.otlp.pb"
NOW = datetime.now(UTC)
LATE, OLD = NOW - timedelta(days=40), NOW - timedelta(days=120)
DENIED = psycopg.errors.InsufficientPrivilege
KEPT_FROM_WORKERS = {
    *("alert_notice", "baseline", "block_change", "extraction_block", "judge_answers", "judge_epoch"),
    *(
        "monitor_state",
        "score_block",
        "score_block_cursor",
        "score_stream",
        "scorer_version",
        "stream_arming",
    ),
}
GPT = {"name": "gpt", "kind": "litellm", "model": "openai/mock", "api_key_env": "MOCK_KEY", "sample": 1.0}
BUDGET = {
    "budget": {"usd_per_day": 1000},
    "prices": {"input_usd_per_million": 1, "output_usd_per_million": 4},
}


@pytest.fixture(scope="module")
def roles(postgres_server):
    with deployed_roles(postgres_server) as made:
        yield made


@pytest.fixture
def day(roles, tmp_path):
    """A deployment whose processes log in as roles.sql means them to."""
    require_rabbitmq()
    with own_vhost() as broker_url, running_llm() as llm:
        deployment = Deployment(
            "rabbitmq", broker_url=broker_url, database_url=roles.admin_url, folder=tmp_path
        )
        judges = [{"name": "lexical", "kind": "lexical"}, {**GPT, **BUDGET, "api_base": llm.url}]
        deployment.settings |= {"RAGSONDE_JUDGES": json.dumps(judges), "MOCK_KEY": "none"}
        try:
            yield deployment
        finally:
            deployment.stop()


def start_as(deployment, roles, role, command):
    deployment.settings["RAGSONDE_DATABASE_URL"] = roles.url(role)
    try:
        return deployment.start(command)
    finally:
        del deployment.settings["RAGSONDE_DATABASE_URL"]


def test_with_them_worker_and_monitor_do_what_a_day_brings(day, roles):
    with psycopg.connect(roles.admin_url, autocommit=True) as connection:
        connection.execute("SELECT ragsonde_make_partition('score', %s)", [OLD.date()])
    worker = start_as(day, roles, "ragsonde_worker", "worker")
    monitor = start_as(day, roles, "ragsonde_monitor", "monitor")
    wait_for(worker.is_on_broker, seconds=90, what="a worker on its broker")
    late = {**make_messages(1, prefix="late")[0], "occurred_at": LATE.isoformat(), "user_id": "somebody"}
    messages = [*make_messages(5), *make_messages(1), late]  # the sixth is the first again
    day.publish(messages)
    with day.publisher() as publisher:
        publisher.publish_trace(b'{"no trace', content_type="application/json")
        publisher.publish_trace(SAMPLE.read_bytes(), content_type="application/x-protobuf")
    running = "SELECT count(*) FROM evaluation WHERE state NOT IN ('scored', 'not_evaluable')"
    traces = "SELECT count(DISTINCT trace_id) FROM evaluation"
    wait_for(
        lambda: (day.count(traces), day.count(running)) == (7, 0),
        seconds=90,
        what="seven traces by both judges",
    )
    assert day.query("SELECT reason FROM parked_message") == [("invalid_json",)]
    assert day.query("SELECT state, count(*) FROM evaluation WHERE judge = 'gpt' GROUP BY 1") == [
        ("scored", 7)
    ]
    # the worker made the day that was missing; it belongs to the owner
    owners = day.query(
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname = ANY(%s)",
        [name_partition(table, day=LATE.date()) for table in PARTITIONED],
    )
    assert owners == [(roles.name("ragsonde_owner"),)]
    # the monitor dropped the day that was over its age
    wait_for(
        lambda: (
            day.count(
                "SELECT count(*) FROM pg_class WHERE relname = %s", name_partition("score", day=OLD.date())
            )
            == 0
        ),
        seconds=60,
        what="the end of an old partition",
    )
    forgotten = run_as(day, roles, "forget", "--trace", messages[0]["trace_id"], "--yes")
    assert forgotten.returncode == 0, forgotten.stderr
    day.publish(messages[:1])  # comes again, and is kept away
    wait_for(
        lambda: worker.read_series("traces_filtered_total") == 1,
        seconds=30,
        what="the trace that was erased",
    )
    wait_for(
        lambda: monitor.read_series("monitor_job_last_success_timestamp_seconds") > 0, seconds=30, what="jobs"
    )
    assert monitor.read_series("monitor_job_failures_total") == 0, monitor.read_log()
    for process in (worker, monitor):
        assert "permission denied" not in process.read_log()
        assert "InsufficientPrivilege" not in process.read_log()


def run_as(deployment, roles, *arguments):
    deployment.settings["RAGSONDE_DATABASE_URL"] = roles.url("ragsonde_migrate")
    try:
        return deployment.run(*arguments)
    finally:
        del deployment.settings["RAGSONDE_DATABASE_URL"]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE trace",
        "DROP TABLE {today}",
        "TRUNCATE score",
        "ALTER TABLE trace ADD COLUMN x int",
        "ALTER TABLE trace DETACH PARTITION {today}",
        "CREATE TABLE mine (x int)",
        "CREATE TEMPORARY TABLE mine (x int)",
        "UPDATE alembic_version SET version_num = '0001'",
        "UPDATE alert SET closed_at = now()",
        "DELETE FROM alert",
        "SELECT id FROM alert",
        "DELETE FROM parked_message",
        "SET ROLE {owner}",
        "ALTER FUNCTION ragsonde_make_partition(text, date) SECURITY INVOKER",
        *(f"TABLE {table}" for table in sorted(KEPT_FROM_WORKERS)),
    ],
)
def test_a_worker_may_not(roles, statement):
    today = name_partition("trace", day=NOW.date())
    with psycopg.connect(roles.url("ragsonde_worker"), autocommit=True) as connection:
        connection.execute("SELECT ragsonde_make_partition('trace', %s)", [NOW.date()])
        with pytest.raises(DENIED):
            connection.execute(statement.format(today=today, owner=roles.name("ragsonde_owner")))


def test_each_table_is_given_to_workers_or_kept_from_them_on_purpose(roles):
    with psycopg.connect(roles.admin_url) as connection:
        given = connection.execute(
            "SELECT DISTINCT table_name FROM information_schema.column_privileges WHERE grantee = %s",
            [roles.name("ragsonde_worker")],
        ).fetchall()
    assert {name for (name,) in given} == Tables.metadata.tables.keys() - KEPT_FROM_WORKERS | {
        "alembic_version"
    }


def test_the_function_makes_partitions_of_nothing_else(roles):
    with psycopg.connect(roles.url("ragsonde_worker"), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.RaiseException, match="found the table alert"):
            connection.execute("SELECT ragsonde_make_partition('alert', current_date)")
        connection.execute("SELECT ragsonde_make_partition('trace', current_date)")  # is there: nothing to do


DESCRIBE = """
SELECT
  (SELECT array_agg((attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
     pg_get_expr(adbin, adrelid))::text ORDER BY attnum)
   FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
   WHERE attrelid = c.oid AND attnum > 0),
  (SELECT array_agg(replace(pg_get_constraintdef(oid), c.relname, '') ORDER BY conname)
   FROM pg_constraint WHERE conrelid = c.oid),
  (SELECT count(*) FROM pg_index WHERE indrelid = c.oid),
  replace(pg_get_expr(relpartbound, c.oid), %(day)s, 'THE DAY'), relowner::regrole::text
FROM pg_class c WHERE relname = %(name)s
"""


@pytest.mark.parametrize("table", PARTITIONED)
def test_a_partition_by_the_function_is_as_one_by_the_owner(roles, table):
    days = (NOW - timedelta(days=50)).date(), (NOW - timedelta(days=60)).date()
    described = []
    for role, its_day in zip(("ragsonde_worker", "ragsonde_monitor"), days, strict=True):
        engine = build_engine(roles.url(role), application_name="ragsonde test", pool_size=1)
        try:
            name = name_partition(table, day=its_day)
            assert ensure_day(engine, day=its_day, tables=(table,)) == [name]
            assert ensure_day(engine, day=its_day, tables=(table,)) == []
        finally:
            engine.dispose()
        with psycopg.connect(roles.admin_url) as connection:
            row = connection.execute(DESCRIBE, {"name": name, "day": its_day.isoformat()}).fetchone()
        *facts, bound, owner = row
        next_day = (its_day + timedelta(days=1)).isoformat()
        described.append((*map(str, facts), bound.replace(next_day, "THE NEXT"), owner))
    assert described[0] == described[1]
    assert described[0][-1] == roles.name("ragsonde_owner")


BOARDS = [read_dashboard(name) for name in NAMES]
ASKED = [
    asked.statement
    for board in BOARDS
    for asked in (*list_asked(board), *list_marks(board))
    if asked.statement
]


def test_grafana_runs_what_the_dashboards_ask(roles):
    assert len(ASKED) == 6
    with psycopg.connect(roles.url("grafana"), autocommit=True) as connection:
        for statement in ASKED:
            connection.execute(fill_statement(statement, since=LATE, until=NOW)).fetchall()
        assert connection.execute("SHOW statement_timeout").fetchone() == ("15s",)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("UPDATE score SET raw = 1")


@pytest.mark.parametrize(
    "statement",
    [
        *(
            f"TABLE {table}"
            for table in ("trace_text", "judge_reply", "parked_message", "trace", "check_set", "user_key")
        ),
        "TABLE span_buffer",
        "DELETE FROM score",
        "SELECT ragsonde_make_partition('trace', current_date)",
        "CREATE TABLE mine (x int)",
    ],
)
def test_grafana_may_not(roles, statement):
    with psycopg.connect(roles.url("grafana"), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")  # a habit, not what keeps it out
        with pytest.raises(DENIED):
            connection.execute(statement)


def test_tables_that_the_superuser_made_become_the_owners(postgres_server):
    with deployed_roles(postgres_server, migrates_first=True) as roles:
        roles.apply()
        with psycopg.connect(roles.admin_url) as connection:
            owners = connection.execute(
                "SELECT DISTINCT relowner::regrole::text FROM pg_class"
                " WHERE relnamespace = 'public'::regnamespace"
            ).fetchall()
        assert owners == [(roles.name("ragsonde_owner"),)]
        engine = build_engine(roles.url("ragsonde_worker"), application_name="ragsonde test", pool_size=1)
        try:
            assert len(ensure_day(engine, day=LATE.date())) == len(PARTITIONED)
        finally:
            engine.dispose()
