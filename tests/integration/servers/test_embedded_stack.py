from __future__ import annotations

import json
import os
import signal
import time

import psycopg
import pytest
import redis

from ragsonde.servers.process_event import Change
from ragsonde.servers.processes import find_by_pid_file, is_running, observe
from ragsonde.servers.stack import EmbeddedStack, StackUrls, find_running
from ragsonde_schemas.errors import SetupError

pytestmark = pytest.mark.integration


@pytest.fixture
def new(data_dir, state_dir):
    return lambda: EmbeddedStack(data_dir, state_dir=state_dir)


def valkey(urls) -> redis.Redis:
    path = urls.broker_url.removeprefix("redis+socket://").partition("?")[0]
    return redis.Redis(unix_socket_path=path, decode_responses=True)


def write(urls) -> None:
    with psycopg.connect(urls.database_url, autocommit=True) as connection, valkey(urls) as store:
        connection.execute("CREATE TABLE t AS SELECT 42 AS n")
        store.set("k", "v")


def read(urls) -> tuple[int, str]:
    with psycopg.connect(urls.database_url) as connection, valkey(urls) as store:
        row = connection.execute("SELECT n FROM t").fetchone()
        assert row is not None
        return row[0], store.get("k")


def server_pids(data_dir) -> list[int]:
    return [server["pid"] for server in json.loads((data_dir / "servers.json").read_text())["servers"]]


def test_a_second_start_has_the_data_of_both_in_under_two_seconds(new):
    with new() as urls:
        write(urls)
    started = time.monotonic()
    with new() as urls:
        assert time.monotonic() - started < 2.0
        assert read(urls) == (42, "v")


def test_another_process_finds_it_while_it_runs(new, data_dir):
    assert find_running(data_dir) is None
    with new() as urls:
        assert find_running(data_dir) == urls
    assert find_running(data_dir) is None
    assert not (data_dir / "servers.json").exists()


def test_a_second_owner_is_refused_and_the_first_goes_on(other_owner, new, data_dir):
    with other_owner() as first:
        with pytest.raises(SetupError, match=f"is already running, owned by process {first.pid}:"):
            new().start()
        urls = find_running(data_dir)
        assert urls == StackUrls(first.database_url, first.broker_url)
        write(urls)
        assert first.leave() == 0


def test_an_owner_that_forgets_to_stop_them_stops_them_when_it_ends(other_owner, directory, processes_below):
    with other_owner() as owner:
        assert owner.leave() == 0
        assert processes_below(directory) == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_no_process_is_left_when_the_owner_is_killed(
    number, other_owner, directory, processes_below, wait_until
):
    with other_owner() as owner:
        write(owner)
        owner.process.send_signal(number)
        owner.process.wait()
        wait_until(lambda: not processes_below(directory))
    with other_owner() as owner:
        assert read(owner) == (42, "v")
        owner.leave()


def test_a_new_owner_does_not_wait_for_the_servers_of_a_killed_one(other_owner, new, data_dir):
    with other_owner() as owner:
        write(owner)
        owner.kill()
        started = time.monotonic()
        with new() as urls:
            assert time.monotonic() - started < 5.0
            assert find_running(data_dir) == urls
            assert read(urls) == (42, "v")


def test_servers_that_outlived_their_owner_are_replaced(other_owner, new, data_dir):
    with other_owner("outlived") as owner:
        write(owner)
        identities = [observe(pid).identity for pid in server_pids(data_dir)]
        owner.kill()
        assert all(map(is_running, identities))
        assert find_running(data_dir) is not None  # they do serve
        with new() as urls:
            assert not any(map(is_running, identities))
            assert read(urls) == (42, "v")


def test_servers_that_outlived_their_owner_are_found_without_the_note(other_owner, new, data_dir):
    with other_owner("outlived") as owner:
        write(owner)
        identities = [observe(pid).identity for pid in server_pids(data_dir)]
        owner.kill()
        (data_dir / "servers.json").unlink()
        with new() as urls:
            assert not any(map(is_running, identities))
            assert read(urls) == (42, "v")


def test_a_killed_server_is_started_again(new, data_dir, wait_until):
    stack = new()
    with stack as urls:
        write(urls)
        before = server_pids(data_dir)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        events = []

        def both_are_back() -> bool:
            events.extend(stack.tend())
            return sum(event.change is Change.STARTED for event in events) == 2

        wait_until(both_are_back)
        assert sorted(event.name for event in events if event.change is Change.DIED) == ["Postgres", "Valkey"]
        assert find_running(data_dir) == urls
        assert not set(before) & set(server_pids(data_dir))
        assert read(urls) == (42, "v")


def test_nothing_runs_when_one_of_both_cannot_be_started(new, directory, data_dir, processes_below):
    with new():
        pass
    [manifest] = (data_dir / "valkey" / "appendonlydir").glob("*.manifest")
    good = manifest.read_text()
    manifest.write_text("nonsense\n")
    with pytest.raises(SetupError, match="Valkey ended"):
        new().start()
    assert processes_below(directory) == {}
    manifest.write_text(good)
    with new() as urls:
        assert find_running(data_dir) == urls


def test_a_fork_of_the_owner_does_not_stop_its_servers(new):
    stack = new()
    with stack as urls:
        write(urls)
        pid = os.fork()
        if pid == 0:
            stack._postgres.stop()
            stack._valkey.stop()
            os._exit(0)
        os.waitpid(pid, 0)
        assert read(urls) == (42, "v")


def test_a_pid_file_names_a_server_while_it_runs(new, data_dir):
    with new():
        postgres, valkey_pid = server_pids(data_dir)
        found = find_by_pid_file(
            data_dir / "postgres" / "postmaster.pid", command_part=f"/postgres -D {data_dir / 'postgres'} "
        )
        assert found is not None
        assert found.pid == postgres
        found = find_by_pid_file(
            data_dir / "valkey" / "valkey.pid", command_part=f"/valkey-server --dir {data_dir / 'valkey'} "
        )
        assert found is not None
        assert found.pid == valkey_pid
