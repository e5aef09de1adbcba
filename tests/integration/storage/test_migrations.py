from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

import ragsonde
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.storage.engine import build_engine
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.locks import MIGRATION_LOCK, GaveWayError
from ragsonde.storage.migrations import build_config, migrate
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.schema_state import find_migrations, schema_state
from ragsonde.storage.tables import CURRENT_SCORE, Tables
from ragsonde_schemas.errors import DatabaseLostError, SetupError
from services.postgres import own_database
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

pytestmark = pytest.mark.integration
DAY = date(2026, 6, 15)
reads_unvalidated = pytest.mark.filterwarnings("ignore:Can't validate argument 'dialect_options'")
"""SQLAlchemy's own slip, where it reads a constraint that is not validated."""


@pytest.fixture
def empty_url(postgres_server) -> Iterator[str]:
    with own_database(postgres_server) as url:
        yield url


@pytest.fixture
def empty_engine(empty_url) -> Iterator[Engine]:
    engine = build_engine(empty_url, application_name="ragsonde test")
    yield engine
    engine.dispose()


def list_tables(engine):
    return set(inspect(engine).get_table_names())


@reads_unvalidated
def test_migrations_lead_to_the_models_exactly(empty_engine, empty_url):
    migrate(empty_url)
    ensure_partitions(empty_engine, today=DAY, days_ahead=1)
    command.check(build_config(empty_engine))


def test_an_empty_database_has_no_revision_and_a_migrated_one_the_newest(empty_engine, empty_url):
    current, head = schema_state(empty_engine)
    assert current is None
    assert head is not None
    migrate(empty_url)
    assert schema_state(empty_engine) == (head, head)


def test_the_newest_revision_is_what_alembic_says(empty_engine):
    script = ScriptDirectory.from_config(build_config(empty_engine))

    assert schema_state(empty_engine)[1] == script.get_current_head()
    for one in script.walk_revisions():
        assert Path(one.path).name.startswith(f"{one.revision}_")


def test_migrating_again_changes_nothing(empty_engine, empty_url):
    migrate(empty_url)
    before = list_tables(empty_engine)
    migrate(empty_url)
    assert list_tables(empty_engine) == before == {*Tables.metadata.tables, "alembic_version"}


@reads_unvalidated
def test_down_and_up_again_with_partitions_in_place(empty_engine, empty_url):
    migrate(empty_url)
    ensure_partitions(empty_engine, today=DAY, days_ahead=1)
    command.downgrade(build_config(empty_engine), "base")
    assert list_tables(empty_engine) == {"alembic_version"}
    command.upgrade(build_config(empty_engine), "head")
    command.check(build_config(empty_engine))


def test_three_processes_may_migrate_at_once(empty_engine, empty_url):
    program = "import sys; from ragsonde.storage.migrations import migrate; migrate(sys.argv[1])"
    processes = [subprocess.Popen([sys.executable, "-c", program, empty_url]) for _ in range(3)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    current, head = schema_state(empty_engine)
    assert current == head


def test_threads_may_migrate_at_once(empty_engine, empty_url):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(migrate, [empty_url] * 3))
    current, head = schema_state(empty_engine)
    assert current == head


def test_a_lock_of_a_writer_is_not_waited_for_long(empty_engine, empty_url):
    migrate(empty_url)
    with empty_engine.connect() as writer, writer.begin():
        writer.execute(text("LOCK TABLE suspect IN ROW EXCLUSIVE MODE"))
        with pytest.raises(Exception, match="lock timeout"):
            command.downgrade(build_config(empty_engine), "base")
    assert "suspect" in list_tables(empty_engine)


def test_a_migration_that_always_had_to_give_way_changes_nothing(empty_engine, empty_url):
    migrate(empty_url, revision="0003")
    with empty_engine.connect() as reader, reader.begin():
        reader.execute(text("SELECT FROM evaluation"))
        with pytest.raises(DatabaseLostError, match="nothing of revision 0004 was changed"):
            migrate(empty_url, patience_seconds=0)
    assert schema_state(empty_engine)[0] == "0003"


LATER = """
from alembic import op

revision, down_revision, branch_labels, depends_on = "{revision}", "{before}", None, None


def upgrade():
    op.execute("{statement}")
"""
HELD = """CREATE TABLE held AS SELECT c.relname AS name FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
WHERE l.pid = pg_backend_pid() AND l.mode = 'AccessExclusiveLock' AND c.relname IN ('score', 'trace')"""


@pytest.fixture
def add_revisions(tmp_path, monkeypatch):
    """Adds revisions 9001, 9002 ... of one statement each to those that are known."""
    folder = tmp_path / "migrations"
    shutil.copytree(find_migrations(), folder)
    before = max(path.name for path in (folder / "versions").glob("*.py"))[:4]
    for module in ("migrations", "schema_state"):
        monkeypatch.setattr(f"ragsonde.storage.{module}.find_migrations", lambda: folder)

    def add(*statements):
        written = before
        for number, statement in enumerate(statements, 9001):
            text = LATER.format(revision=number, before=written, statement=" ".join(statement.split()))
            (folder / "versions" / f"{number}_later.py").write_text(text)
            written = number

    return add


def test_a_revision_holds_no_lock_of_the_one_before(empty_engine, empty_url, add_revisions):
    add_revisions("ALTER TABLE trace ADD COLUMN tier text", f"ALTER TABLE score ADD COLUMN tier text; {HELD}")
    migrate(empty_url)
    with empty_engine.connect() as connection:
        assert connection.execute(text("SELECT name FROM held")).scalars().all() == ["score"]


def test_a_migration_that_is_killed_in_the_middle_goes_on(empty_engine, empty_url, add_revisions):
    add_revisions("ALTER TABLE trace ADD COLUMN tier text", "SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(DatabaseLostError):
        migrate(empty_url)
    assert schema_state(empty_engine)[0] == "9001"
    add_revisions("ALTER TABLE trace ADD COLUMN tier text", "ALTER TABLE score ADD COLUMN tier text")
    migrate(empty_url)
    assert schema_state(empty_engine) == ("9002", "9002")
    assert "tier" in [column["name"] for column in inspect(empty_engine).get_columns("score")]


def test_a_migration_and_a_reading_of_the_ledger_know_of_each_other(empty_engine, empty_url):
    migrate(empty_url, revision="0007")
    now = datetime(2026, 6, 15, tzinfo=UTC)
    reader = LedgerReader(empty_engine, kept_days=90)
    with ThreadPoolExecutor() as pool:
        with reader.opening(now=now, since=now) as reading:
            checks = reading.check_all()
            next(checks)
            migrating = pool.submit(migrate, empty_url)
            wait_for(lambda: is_anybody_waiting(empty_engine), seconds=20, what="a migration that waits")
            with pytest.raises(GaveWayError):
                next(checks)
        migrating.result(timeout=60)
    assert reader.read(now=now, since=now).holds
    with empty_engine.begin() as held:
        held.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        with pytest.raises(GaveWayError, match="ragsonde migrate"):
            reader.read(now=now, since=now)


def is_anybody_waiting(engine):
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with engine.connect() as connection:
        return connection.execute(text(query)).all()


def test_a_migration_that_gave_way_names_who_held_the_locks(empty_engine, empty_url):
    migrate(empty_url, revision="0007")
    with empty_engine.begin() as writer:
        writer.execute(text("LOCK TABLE backfill IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(DatabaseLostError, match=r"held by ragsonde test \(pid \d+, \d+ s\)"):
            migrate(empty_url, patience_seconds=0)


def test_a_newer_schema_is_left_as_it_is_and_an_older_one_refused(empty_engine, empty_url, caplog):
    migrate(empty_url)
    for version in ("9999", "0001"):
        with empty_engine.begin() as connection:
            connection.execute(
                text("UPDATE alembic_version SET version_num = :version"), {"version": version}
            )
        if version == "9999":
            migrate(empty_url)
            require_current_schema(empty_url)
        else:
            with pytest.raises(SetupError, match="has schema 0001, expected"):
                require_current_schema(empty_url)
        assert schema_state(empty_engine)[0] == version
    assert caplog.messages == ["schema_is_newer"]


def test_the_view_has_the_columns_that_reads_are_written_against(engine):
    columns = [column["name"] for column in inspect(engine).get_columns("current_score")]
    assert columns == [column.name for column in CURRENT_SCORE.columns]


def test_a_server_that_is_away_is_a_lost_database():
    with pytest.raises(DatabaseLostError):
        migrate("postgresql://postgres@127.0.0.1:1/nothing")


class TestFinding:
    def test_in_a_checkout_they_lie_beside_the_source_roots(self):
        assert find_migrations() == Path(ragsonde.__file__).parents[2] / "migrations"

    def test_in_a_wheel_they_lie_beside_the_package(self, tmp_path, monkeypatch):
        installed = tmp_path / "site-packages"
        module = installed / "ragsonde/storage/schema_state.py"
        for name in ("ragsonde/storage/schema_state.py", "ragsonde_migrations/env.py"):
            (installed / name).parent.mkdir(parents=True)
            (installed / name).touch()
        monkeypatch.setattr("ragsonde.storage.schema_state.__file__", str(module))
        assert find_migrations() == installed / "ragsonde_migrations"

    def test_where_they_are_missing_it_says_where_it_looked(self, tmp_path, monkeypatch):
        module = tmp_path / "lib/ragsonde/storage/schema_state.py"
        monkeypatch.setattr("ragsonde.storage.schema_state.__file__", str(module))
        with pytest.raises(SetupError, match="ragsonde_migrations"):
            find_migrations()
