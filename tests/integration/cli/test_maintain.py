"""`ragsonde maintain` over a real Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_trace
from ragsonde.cli.main import run
from ragsonde.cli.maintain import list_hints, show_bytes
from ragsonde.storage.locks import try_job_lock
from ragsonde.storage.partitions import ensure_day, list_partitions
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.table_sizes import TableSize, measure_tables
from services.stored_traces import store_reply
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC)
TODAY = NOW.date()


@pytest.fixture
def maintain(own_engine, capsys, monkeypatch, tmp_path):
    """Runs the command on the test's database; its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    url = own_engine.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def call(*arguments, settings=""):
        (tmp_path / "ragsonde.yaml").write_text(settings)
        with pytest.raises(SystemExit) as exit_:
            run(["maintain", "--database-url", url, *arguments])
        return exit_.value.code, capsys.readouterr()

    return call


def list_days(engine, table):
    with engine.connect() as connection:
        return [one.day for one in list_partitions(connection) if one.table == table]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(own_engine, maintain):
    ensure_day(own_engine, day=TODAY - timedelta(days=15))
    code, printed = maintain("--dry-run", "--output", "json")
    report = json.loads(printed.out)
    assert code == 0
    assert len(report["made"]) == 8 * len(PARTITIONED)
    assert set(report["dropped"]) == {
        f"{table}_{TODAY - timedelta(days=15):%Y%m%d}" for table in ("trace_text", "judge_reply")
    }
    assert min(report["dropped"].values()) > 0
    assert list_days(own_engine, "trace_text") == [TODAY - timedelta(days=15)]


def test_it_makes_and_drops_and_says_when_the_next_day_goes(own_engine, maintain):
    ensure_day(own_engine, day=TODAY - timedelta(days=15))
    code, printed = maintain("--output", "json")
    report = json.loads(printed.out)
    assert (code, len(report["made"]), len(report["dropped"])) == (0, 8 * len(PARTITIONED), 2)
    of_table = {table["name"]: table for table in report["tables"]}
    assert of_table["trace_text"]["oldest_day"] == TODAY.isoformat()
    assert of_table["trace_text"]["next_drop"] == (TODAY + timedelta(days=15)).isoformat()
    assert of_table["score"]["next_drop"] == (TODAY + timedelta(days=90 - 15 + 1)).isoformat()
    assert of_table["parked_message"]["oldest_day"] is None
    again = json.loads(maintain("--output", "json")[1].out)
    assert (again["made"], again["dropped"]) == ([], {})


def test_many_days_at_once_are_held_until_somebody_means_it(own_engine, maintain):
    for back in range(8, 12):
        ensure_day(own_engine, day=TODAY - timedelta(days=back))
        store_reply(own_engine, day=TODAY - timedelta(days=back))
    code, printed = maintain()
    assert code == 1
    assert "retention is held: 4 days of judge_reply would be dropped at once" in printed.out
    assert len(list_days(own_engine, "judge_reply")) == 12
    code, printed = maintain("--allow-many-days")
    assert code == 0
    assert "4 partitions dropped" in printed.out
    assert len(list_days(own_engine, "judge_reply")) == 8


def test_a_clock_that_is_not_postgres_s_drops_nothing(own_engine, maintain, monkeypatch):
    ensure_day(own_engine, day=TODAY)
    monkeypatch.setattr("ragsonde.cli.maintain.SystemClock", lambda: FakeClock(NOW + timedelta(days=40)))
    code, printed = maintain("--allow-many-days")
    assert code == 2
    assert "nothing is dropped: the clock here says" in printed.err
    assert list_days(own_engine, "judge_reply") == [TODAY]


def test_what_another_process_is_at_is_left_to_it(own_engine, maintain):
    ensure_day(own_engine, day=TODAY - timedelta(days=15))
    with try_job_lock(own_engine, "retention"):
        report = json.loads(maintain("--output", "json")[1].out)
    assert report["busy"] == ["retention"]
    assert report["dropped"] == {}
    assert len(report["made"]) == 8 * len(PARTITIONED)


def test_texts_go_as_the_settings_say(own_engine, maintain):
    stores = PostgresStores(FakeClock(NOW), own_engine)
    stores.traces.admit(make_trace("t-1", occurred_at=NOW), ())
    code, printed = maintain("--dry-run", settings="store_text: none\n")
    assert (code, "1 texts would be dropped" in printed.out) == (0, True)
    assert "0 texts dropped" in maintain()[1].out
    assert "1 texts dropped" in maintain(settings="store_text: none\n")[1].out
    with own_engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM trace_text")).scalar_one() == 0


def test_dead_rows_a_table_without_retention_and_autovacuum_are_pointed_at(own_engine):
    ensure_day(own_engine, day=TODAY)
    sizes = {size.name: size for size in measure_tables(own_engine)}
    assert set(PARTITIONED) < set(sizes)
    dead = TableSize(
        name="score",
        partitions=1,
        table_bytes=1,
        index_bytes=1,
        live_rows=30_000,
        dead_rows=10_000,
    )
    assert [hint.split(":")[0] for hint in list_hints([dead], has_autovacuum=False, retention={})] == [
        "autovacuum is off",
        "score",
        "score",
    ]
    few = dead.model_copy(update={"dead_rows": 7_000})
    assert list_hints([few], has_autovacuum=True, retention={"score": 90}) == []


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.34e9, "2.34 GB"), (4e7, "40 MB")]
)
def test_bytes_are_shown_in_their_unit(size, shown):
    assert show_bytes(size) == shown
