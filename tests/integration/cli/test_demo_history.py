"""The demo's past in a real Postgres: stored once, counted, judged by the monitor's jobs, removed wholly."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.evaluations import make_trace, plan_free
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.cli import demo_history
from ragsonde.cli.demo_history import load_history
from ragsonde.cli.demo_traffic import count_stored
from ragsonde.cli.main import run
from ragsonde.demo.history import find_fault, list_history
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.regression.options import RegressionOptions
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.app_streams import drop_streams
from ragsonde.storage.backfills import create_backfill
from ragsonde.storage.block_counting import count_block
from ragsonde.storage.dirty_marks import mark_stretch
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.table_names import TRACE_TABLES
from ragsonde.storage.told_alerts import list_alerts
from ragsonde.watching.block_jobs import BlockChores
from ragsonde.watching.jobs import RegressionChores
from ragsonde_schemas.backfill import BackfillRequest
from services.stores import PostgresStores
from services.waiting import wait_for

pytestmark = pytest.mark.integration

SCORERS = {
    "context_position",
    "context_precision",
    "context_relevance",
    "essential_context",
    "statement_relevancy",
}
SHORT = 300
TARGETS = frozenset({"essential_context"})


class Ground:
    """A database of one test's own, as `ragsonde up` prepares it."""

    def __init__(self, engine, url):
        self.engine, self.url = engine, url
        self.now = datetime.now(UTC)
        ensure_partitions(engine, today=self.now.date(), days_ahead=1)

    def load(self, *, stopping=None, **options):
        load_history(
            options.pop("settings", None) or read_settings(None, options={}),
            database_url=self.url,
            now=self.now,
            stopping=stopping or threading.Event(),
            **options,
        )

    def watch(self):
        """What a monitor does when it begins: counts what is left, and judges."""
        chores = {"engine": self.engine, "clock": SystemClock()}
        BlockChores(series=Series(MONITOR_SERIES), kept_days=90, **chores).count()
        RegressionChores(options=RegressionOptions(), targets=TARGETS, **chores).judge()

    def query(self, statement):
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement))]

    def count(self, table, where="true"):
        return self.query(f"SELECT count(*) FROM {table} WHERE {where}")[0][0]  # noqa: S608 - constants

    def add_backfill(self, **fields):
        """One that has ended, of as many evaluations as are told, else one."""
        request = BackfillRequest(
            judge="j", fingerprint="f", rate_per_second=1, app=fields.get("app"),
            since=self.now.date() - timedelta(days=20), until=self.now.date(),
        )  # fmt: skip
        number = create_backfill(self.engine, request, foreseen=1, created_by=None, now=self.now)
        with self.engine.begin() as connection:
            planned = {"planned": fields.get("planned", 1), "id": number}
            connection.execute(text("UPDATE backfill SET planned = :planned WHERE id = :id"), planned)
        return number

    def take(self, app, backfill):
        """Lets an evaluation of the app that no other has taken be one that a backfill took."""
        with self.engine.begin() as connection:
            taken = connection.execute(
                text(
                    "UPDATE evaluation SET backfill_id = :id WHERE (trace_id, judge) IN "
                    "(SELECT trace_id, judge FROM evaluation "
                    "WHERE app = :app AND backfill_id IS NULL LIMIT 1)"
                ),
                {"app": app, "id": backfill},
            )
            assert taken.rowcount == 1

    def read_traces(self):
        """All that is stored of traces, as text, by table."""
        return {
            table: self.query(f"SELECT t::text FROM {table} t ORDER BY 1")  # noqa: S608 - constants
            for table in TRACE_TABLES
        }

    def empty_traces(self):
        """Deletes all that is stored of traces."""
        with self.engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {', '.join(TRACE_TABLES)}"))

    def count_orphans(self):
        """Rows by table of streams that are not there."""
        tables = ("score_block", "block_change", "monitor_state", "baseline", "alert")
        of_none = "stream_id NOT IN (SELECT id FROM score_stream)"
        return {table: number for table in tables if (number := self.count(table, of_none))}

    def count_waiting(self):
        """Of the connections to this database, how many wait for a lock."""
        return self.query(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )[0][0]


@pytest.fixture
def ground(own_engine, database_url):
    return Ground(own_engine, database_url)


@pytest.fixture
def short(monkeypatch):
    """Its last traces only: they are stored, counted and removed by the same statements."""
    whole = demo_history.list_history
    monkeypatch.setattr(demo_history, "list_history", lambda **given: list(whole(**given))[-SHORT:])


def list_planted(now):
    return {
        one.trace.trace_id for one in list_history(now=now, scorers=build_scorers(None)) if one.is_planted
    }


def test_the_fault_is_one_page_of_the_streams_that_it_touched_with_the_planted_traces(ground):
    ground.load()
    # all but the last minutes is counted already: the monitor's first run of the job judges it
    assert ground.count("block_change") > 0
    RegressionChores(
        engine=ground.engine, clock=SystemClock(), options=RegressionOptions(), targets=TARGETS
    ).judge()
    alerts = list_alerts(ground.engine)

    assert {(one.stream.app, one.stream.environment) for one in alerts if one.is_page} == {
        ("demo", "production")
    }
    assert {one.stream.scorer for one in alerts if one.is_page} == SCORERS - TARGETS
    assert {one.stream.scorer for one in alerts if not one.is_page} == TARGETS
    assert len(alerts) == len(SCORERS)
    assert {one.stream.judge for one in alerts} == {"recorded"}
    planted, fault = list_planted(ground.now), find_fault(ground.now)
    for one in alerts:
        assert one.is_open
        assert timedelta() <= one.since - fault <= timedelta(minutes=30), one.stream.scorer
        worst = [trace["trace_id"] for trace in one.explanation["traces"]]
        assert len(worst) == 10
        assert set(worst) <= planted
        assert one.explanation["changes"] == []
    again = [one.number for one in alerts]
    ground.watch()
    assert [one.number for one in list_alerts(ground.engine)] == again


def test_the_same_weeks_without_the_fault_are_silent(ground):
    ground.load(has_fault=False)
    ground.watch()

    assert ground.count("monitor_state") > 0
    assert list_alerts(ground.engine) == ()
    assert ground.query("SELECT DISTINCT level FROM monitor_state") == [("quiet",)]


@pytest.mark.usefixtures("short")
def test_loaded_twice_it_is_there_once_and_the_ledger_adds_up(ground, capsys):
    ground.load()
    number = ground.count("trace")
    assert "loaded two weeks of an invented shop's history in" in capsys.readouterr().err
    ground.load()
    assert "there already" in capsys.readouterr().err

    assert {ground.count(table) for table in ("trace", "trace_text", "evaluation", "assessment")} == {SHORT}
    assert number == SHORT
    assert ground.count("score") == 5 * number
    assert ground.count("score", "created_at > now()") == 0
    ledger = LedgerReader(ground.engine, kept_days=90).read(
        now=ground.now, since=ground.now - timedelta(days=15)
    )
    assert (ledger.revisions, ledger.holds) == (number, True)
    assert [check.invariant for check in ledger.checks if not check.holds] == []
    assert count_stored(ground.engine, now=ground.now) == 0, "none of it is of today's traffic"


@pytest.mark.parametrize("kept", ["all", "worst", "none"])
def test_what_is_copied_is_stored_as_if_it_were_not(ground, monkeypatch, kept):
    settings = read_settings(None, options={"store_text": kept})
    recent = list(demo_history.list_history(now=ground.now, scorers=build_scorers(None)))[-SHORT:]
    monkeypatch.setattr(demo_history, "list_history", lambda **_: recent)
    assert len({one.case for one in recent}) < SHORT - 50
    ground.load(settings=settings)
    copied = ground.read_traces()
    ground.empty_traces()
    alone = [one._replace(case=number) for number, one in enumerate(recent)]
    monkeypatch.setattr(demo_history, "list_history", lambda **_: alone)
    ground.load(settings=settings)

    assert len(copied["score"]) == 5 * SHORT
    least, most = {"all": (SHORT, SHORT), "worst": (1, SHORT - 1), "none": (0, 0)}[kept]
    assert least <= len(copied["trace_text"]) <= most
    assert copied == ground.read_traces()


@pytest.mark.usefixtures("short")
def test_two_starts_at_once_load_it_once(ground):
    threads = [threading.Thread(target=ground.load) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ground.count("trace") == ground.count("evaluation") == SHORT


@pytest.mark.usefixtures("short")
def test_what_is_counted_of_it_is_what_the_monitor_counts(ground):
    ground.load()
    rows = (
        "SELECT stream_id, start, stratum, n, total, squares, failed, bins, counts FROM score_block"
        " WHERE start < now() - interval '65 minutes' ORDER BY 1, 2, 3"
    )
    before = ground.query(rows)
    with ground.engine.begin() as connection:
        mark_stretch(connection, since=ground.now - timedelta(days=2), until=ground.now)
        deleted = connection.execute(
            text("DELETE FROM score_block WHERE start > now() - interval '2 days'")
        ).rowcount
    ground.watch()

    assert deleted > 100
    assert ground.query(rows) == before
    assert ground.query("SELECT sum(n) FROM score_block WHERE start < now() - interval '1 hour'") == [
        (5 * ground.count("trace", "occurred_at < date_bin('5 min', now() - interval '1 hour', 'epoch')"),)
    ]


def test_stopped_in_the_middle_nothing_of_it_is_stored(ground):
    stopping = threading.Event()
    stopping.set()
    ground.load(stopping=stopping)

    assert [ground.count(table) for table in ("trace", "evaluation", "score", "dirty_mark")] == [0, 0, 0, 0]


def test_with_a_shorter_retention_it_is_left_out_and_that_is_said(ground, capsys):
    settings = read_settings(None, options={"retention_days": {"score": 10}})
    ground.load(settings=settings)

    assert ground.count("trace") == 0
    assert "14 days long, and retention_days keeps 10" in capsys.readouterr().err


@pytest.mark.usefixtures("short")
def test_drop_demo_removes_all_of_it_and_nothing_of_others(ground, capsys):
    stores = PostgresStores(SystemClock(), ground.engine)
    stores.traces.admit(make_trace("kept", app="shop", occurred_at=ground.now), (plan_free(0.8),))
    ground.load()
    ground.watch()
    assert ground.count("score_stream", "app = 'demo'") == 5
    theirs = [ground.add_backfill(), ground.add_backfill(app="demo"), ground.add_backfill(app="shop")]
    ground.take("demo", theirs[0])
    mixed = ground.add_backfill(planned=2)
    ground.take("demo", mixed)
    ground.take("shop", mixed)

    for command in (["drop-demo"], ["drop-demo", "--yes", "--output", "json"]):
        with pytest.raises(SystemExit) as ended:
            run([*command, "--database-url", ground.url])
        assert ended.value.code == (0 if "--yes" in command else 2)
    said = capsys.readouterr()

    assert "expected --yes" in said.err
    assert f'"traces": {SHORT}' in said.out
    ground.watch()
    for table in ("trace", "evaluation", "score", "assessment", "trace_text"):
        assert ground.count(table, "app = 'demo'") == 0, table
    assert ground.query("SELECT app FROM trace") == [("shop",)]
    assert ground.count("score_stream", "app = 'demo'") == 0
    assert ground.count("extraction_block", "app = 'demo'") == 0
    assert ground.count_orphans() == {}
    assert ground.query("SELECT id FROM backfill ORDER BY id") == [(theirs[2],), (mixed,)]
    assert '"backfills": 2' in said.out

    ground.load()
    assert ground.count("trace", "app = 'demo'") == SHORT, "it may be shown again"


@pytest.mark.usefixtures("short")
def test_streams_are_dropped_after_the_block_that_is_being_counted(ground):
    ground.load()
    start = ground.query("SELECT max(start) FROM score_block")[0][0]

    def count():
        count_block(ground.engine, start, places=None, tags=(), now=ground.now)

    with ThreadPoolExecutor(2) as threads, ground.engine.connect() as keeper:
        # the block's scores are counted, but not committed: their number of rules waits for the table
        keeper.execute(text("LOCK TABLE extraction_block IN EXCLUSIVE MODE"))
        counting = threads.submit(count)
        wait_for(lambda: ground.count_waiting() == 1, what="the counter")
        dropping = threads.submit(drop_streams, ground.engine, app="demo")
        wait_for(lambda: ground.count_waiting() == 2, what="who drops")
        keeper.rollback()
        counting.result()
        assert dropping.result()["score_stream"] == 5

    assert ground.count("score_stream") == 0
    assert ground.count_orphans() == {}


@pytest.mark.usefixtures("short")
def test_whoever_counts_while_the_demo_is_removed_leaves_nothing_behind(ground):
    ground.load()
    blocks = [start for (start,) in ground.query("SELECT DISTINCT start FROM score_block ORDER BY 1")]
    removed = threading.Event()

    def count():
        rounds = 0
        while not removed.is_set() or rounds == 0:
            for start in blocks:
                count_block(ground.engine, start, places=None, tags=(), now=ground.now)
            rounds += 1

    with ThreadPoolExecutor(2) as threads:
        counting = [threads.submit(count) for _ in range(2)]
        with pytest.raises(SystemExit) as ended:
            run(["drop-demo", "--yes", "--database-url", ground.url])
        removed.set()
        for one in counting:
            one.result()

    assert ended.value.code == 0
    assert ground.count("score_stream") == ground.count("score_block") == 0
    assert ground.count_orphans() == {}
