from __future__ import annotations

import os
import signal
import threading
import time

import psycopg
import pytest
from sqlalchemy import create_engine, make_url, text

from ragsonde.servers.postgres import EmbeddedPostgres
from ragsonde_schemas.errors import SetupError

pytestmark = pytest.mark.integration


@pytest.fixture
def new(data_dir, state_dir):
    return lambda: EmbeddedPostgres(data_dir, state_dir=state_dir)


def query(server: EmbeddedPostgres, sql: str):
    with psycopg.connect(server.url, autocommit=True) as connection:
        cursor = connection.execute(sql)  # type: ignore[arg-type]
        return cursor.fetchone() if cursor.description else None


def setting(server: EmbeddedPostgres, name: str) -> str:
    return query(server, f"SHOW {name}")[0]


def test_it_serves_a_private_durable_utf8_database(new):
    with new() as server:
        assert setting(server, "listen_addresses") == ""
        assert setting(server, "unix_socket_permissions") == "0700"
        assert (setting(server, "fsync"), setting(server, "full_page_writes")) == ("on", "on")
        assert (setting(server, "synchronous_commit"), setting(server, "data_checksums")) == ("on", "on")
        assert (setting(server, "server_encoding"), setting(server, "timezone")) == ("UTF8", "UTC")
        assert setting(server, "shared_buffers") == "64MB"
        assert query(server, "SELECT lower('ÄÖ'), 'Z' < 'a', 'z' < 'ä'") == ("äö", True, True)


def test_its_url_works_with_sqlalchemy(new, monkeypatch):
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("PGHOST", "elsewhere")
    with new() as server:
        engine = create_engine(make_url(server.url).set(drivername="postgresql+psycopg"))
        with engine.connect() as connection:
            assert connection.scalar(text("SELECT current_user")) == "ragsonde"
        engine.dispose()


def test_a_second_start_has_the_data_in_under_two_seconds(new):
    with new() as server:
        query(server, "CREATE TABLE t AS SELECT 42 AS n")
    started = time.monotonic()
    with new() as server:
        assert time.monotonic() - started < 2.0
        assert query(server, "SELECT n FROM t") == (42,)


def test_a_clean_stop_leaves_no_process_no_pid_file_and_no_socket(new, directory, data_dir, processes_below):
    with new():
        assert processes_below(directory)
    assert processes_below(directory) == {}
    assert not (data_dir / "postgres" / "postmaster.pid").exists()
    assert not list((data_dir / "postgres").glob(".s.*"))
    assert "database system is shut down" in (data_dir / "log" / "postgres.log").read_text()


def test_a_stop_ends_open_sessions(new):
    with new() as server:
        connection = psycopg.connect(server.url)
        connection.execute("SELECT 1")
        started = time.monotonic()
    assert time.monotonic() - started < 5.0
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()


def test_starting_and_stopping_twice_is_harmless(new):
    server = new()
    server.start()
    pid = server.pid
    server.start()
    assert server.pid == pid
    server.stop()
    server.stop()
    with pytest.raises(SetupError, match="was not started"):
        _ = server.url


def test_a_second_owner_is_told_who_the_first_is(new, data_dir):
    with new() as server:
        with pytest.raises(SetupError, match=f"Postgres in {data_dir} is already running.*{os.getpid()}"):
            new().start()
        assert query(server, "SELECT 1") == (1,)


def test_what_was_committed_is_there_after_kill_9(new, wait_until):
    server = new()
    with server:
        query(server, "CREATE TABLE t AS SELECT 42 AS n")
        sessions = [psycopg.connect(server.url) for _ in range(3)]
        sessions[0].execute("INSERT INTO t VALUES (43)")  # not committed
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.is_alive)
        assert server.exit_code == -signal.SIGKILL
        server.start()
        assert query(server, "SELECT array_agg(n) FROM t") == ([42],)
        for session in sessions:
            session.close()


def test_a_killed_session_does_not_take_the_server_with_it(new, wait_until):
    with new() as server:
        query(server, "CREATE TABLE t AS SELECT 42 AS n")
        with psycopg.connect(server.url) as session:
            os.kill(session.info.backend_pid, signal.SIGKILL)

        def has_recovered() -> bool:
            try:
                return query(server, "SELECT n FROM t") == (42,)
            except psycopg.OperationalError:
                return False

        wait_until(has_recovered)
        assert server.is_alive


@pytest.mark.parametrize("names", [["postmaster.pid"], ["postmaster.pid", ".s.PGSQL.5432.lock"]])
def test_a_stale_pid_file_whose_pid_a_stranger_has_is_no_obstacle(new, data_dir, stranger, names):
    cluster_dir = data_dir / "postgres"
    owner = cluster_dir.stat()
    with new() as server:
        query(server, "CREATE TABLE t AS SELECT 42 AS n")
        _, *lines = (cluster_dir / "postmaster.pid").read_text().splitlines()
    # a stranger of the same user: Postgres by itself takes it for a running server
    process = stranger(user=owner.st_uid, group=owner.st_gid)
    for name in names:
        (cluster_dir / name).write_text("\n".join([str(process.pid), *lines]))
        os.chown(cluster_dir / name, owner.st_uid, owner.st_gid)
    (cluster_dir / ".s.PGSQL.5432").touch()

    with new() as server:
        assert query(server, "SELECT n FROM t") == (42,)
    assert process.poll() is None


def test_a_session_of_a_killed_server_is_waited_for(new, data_dir, wait_until):
    log = data_dir / "log" / "postgres.log"
    with new() as server, psycopg.connect(server.url) as session:
        backend = session.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.is_alive)

        def let_it_go() -> None:
            wait_until(lambda: "pre-existing shared memory block" in log.read_text())
            os.kill(backend, signal.SIGCONT)

        helper = threading.Thread(target=let_it_go)
        helper.start()
        server.start()
        helper.join()
        assert query(server, "SELECT 1") == (1,)


def test_a_long_data_directory_gets_a_short_socket(directory, state_dir):
    with EmbeddedPostgres(directory / ("long" * 25) / "data", state_dir=state_dir) as server:
        assert query(server, "SELECT 1") == (1,)
        socket_dir = make_url(server.url).query["host"]
        assert not str(socket_dir).startswith(str(directory))
    assert not os.path.exists(str(socket_dir))  # noqa: PTH110 - a string from a URL


def test_a_data_directory_with_unusual_characters_works(directory, state_dir):
    path = directory / "it's, 100% dätä"
    for _ in range(2):
        with EmbeddedPostgres(path, state_dir=state_dir) as server:
            assert query(server, "SELECT 1") == (1,)
    assert (path / "postgres" / "PG_VERSION").exists()


def test_a_cluster_whose_making_was_cut_off_is_made_again(new, data_dir):
    unfinished = data_dir / "postgres.unfinished"
    (data_dir / "postgres").rename(unfinished)
    with new() as server:
        assert query(server, "SELECT 1") == (1,)
    assert not unfinished.exists()


def test_data_of_another_version_is_named(new, data_dir):
    version_file = data_dir / "postgres" / "PG_VERSION"
    version_file.write_text("16\n")
    with pytest.raises(SetupError, match=r"was made by Postgres 16, the installed wheel holds 18: dump it"):
        new().start()


def test_a_folder_that_is_no_cluster_is_named(new, data_dir):
    (data_dir / "postgres" / "PG_VERSION").unlink()
    with pytest.raises(SetupError, match="holds no Postgres data"):
        new().start()


def test_a_server_that_does_not_come_up_is_told_with_its_complaint(new, data_dir):
    configuration = data_dir / "postgres" / "postgresql.conf"
    configuration.write_text("no_such_setting = 1\n")
    with pytest.raises(
        SetupError, match=r"Postgres ended with code 1 while starting: .*postgresql.conf.* \(log: "
    ):
        new().start()


def test_a_failed_start_leaves_the_directory_free(new, data_dir):
    configuration = data_dir / "postgres" / "postgresql.conf"
    good = configuration.read_text()
    configuration.write_text("no_such_setting = 1\n")
    failing = new()
    with pytest.raises(SetupError):
        failing.start()
    configuration.write_text(good)
    with new() as server:
        assert query(server, "SELECT 1") == (1,)


def test_a_failed_statement_leaves_no_text_in_the_log(new, data_dir):
    with new() as server:
        query(server, "CREATE TABLE t (n text PRIMARY KEY)")
        query(server, "INSERT INTO t VALUES ('a secret of somebody')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            query(server, "INSERT INTO t VALUES ('a secret of somebody')")
    log = (data_dir / "log" / "postgres.log").read_text()
    assert "violates unique constraint" in log
    assert "secret" not in log


def test_it_refuses_to_be_started_from_a_thread_that_may_end(new):
    failures: list[BaseException] = []

    def start() -> None:
        try:
            new().start()
        except RuntimeError as error:
            failures.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "from the main thread" in str(failures[0])


def test_a_ctrl_c_at_the_terminal_does_not_reach_it(new):
    with new() as server:
        assert os.getsid(server.pid) == server.pid != os.getsid(0)
