from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import pytest
import redis

from ragsonde.servers.valkey import EmbeddedValkey
from ragsonde.servers.valkey_log import rewrite_log
from ragsonde_schemas.errors import BrokerLostError, SetupError

pytestmark = pytest.mark.integration


@pytest.fixture
def new(data_dir):
    return lambda: EmbeddedValkey(data_dir)


def client(server: EmbeddedValkey) -> redis.Redis:
    path = server.url.removeprefix("redis+socket://").partition("?")[0]
    return redis.Redis(unix_socket_path=path, decode_responses=True)


def test_it_serves_a_private_durable_store(new, data_dir):
    with new() as server, client(server) as valkey:
        settings = valkey.config_get("*")
        assert (settings["appendonly"], settings["appendfsync"], settings["save"]) == ("yes", "always", "")
        assert (settings["port"], settings["unixsocketperm"]) == ("0", "700")
        assert settings["maxmemory-policy"] == "noeviction"
        assert (data_dir / "valkey").stat().st_mode & 0o777 == 0o700


def test_a_second_start_has_the_data_in_under_two_seconds(new):
    with new() as server, client(server) as valkey:
        valkey.set("k", "v")
    started = time.monotonic()
    with new() as server, client(server) as valkey:
        assert time.monotonic() - started < 2.0
        assert valkey.get("k") == "v"


def test_a_clean_stop_leaves_no_process_no_pid_file_and_no_socket(new, directory, data_dir, processes_below):
    with new():
        assert processes_below(directory)
    assert processes_below(directory) == {}
    assert [path.name for path in (data_dir / "valkey").iterdir()] == ["appendonlydir"]


def test_what_was_consumed_is_in_no_file_any_more_once_they_are_written_anew(new, data_dir, wait_until):
    def read_files():
        return b"".join(path.read_bytes() for path in (data_dir / "valkey").rglob("*") if path.is_file())

    def holds_little():
        with suppress(FileNotFoundError):  # of two that take turns one was removed meanwhile
            return len(read_files()) < 2_200_000
        return False

    with new() as server, client(server) as valkey:
        valkey.rpush("queue", "consumed-ada@example.org", "waits-ben")
        valkey.lpop("queue")
        assert b"consumed-ada" in read_files()
        rewrite_log(server.url)
        assert b"consumed-ada" not in read_files()
        assert valkey.lrange("queue", 0, -1) == ["waits-ben"]
        for _ in range(300):
            valkey.rpush("traffic", "ada@example.org" + "x" * 10_000)
            valkey.lpop("traffic")
        wait_until(holds_little)  # together they were 3 MB, and after the first one the files are due
    with new() as server, client(server) as valkey:
        assert valkey.lrange("queue", 0, -1) == ["waits-ben"]


def test_files_of_a_broker_that_is_away_are_not_written_anew(tmp_path):
    with pytest.raises(BrokerLostError):
        rewrite_log(f"redis+socket://{tmp_path}/nobody.sock?virtual_host=0")


def test_what_was_acknowledged_is_there_after_kill_9(new, wait_until):
    server = new()
    with server:
        with client(server) as valkey:
            for number in range(100):
                valkey.rpush("list", number)
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.is_alive)
        server.start()
        with client(server) as valkey:
            assert valkey.lrange("list", 0, -1) == [str(number) for number in range(100)]


def test_a_file_cut_off_in_the_middle_of_a_transaction_is_read_to_the_last_whole_one(new, data_dir):
    with new() as server, client(server) as valkey:
        valkey.set("k", "whole")
        with valkey.pipeline(transaction=True) as pipe:
            pipe.set("k", "half").set("other", "half").execute()
    [journal] = (data_dir / "valkey" / "appendonlydir").glob("*.incr.aof")
    journal.write_bytes(journal.read_bytes()[:-20])
    with new() as server, client(server) as valkey:
        assert (valkey.get("k"), valkey.get("other")) == ("whole", None)


def test_a_second_owner_is_told_who_the_first_is(new, data_dir):
    message = f"Valkey in {data_dir} is already running.*{os.getpid()}"
    with new(), pytest.raises(SetupError, match=message):
        new().start()


def test_a_stale_pid_file_whose_pid_a_stranger_has_is_no_obstacle(new, data_dir, stranger):
    with new() as server, client(server) as valkey:
        valkey.set("k", "v")
    process = stranger()
    (data_dir / "valkey" / "valkey.pid").write_text(f"{process.pid}\n")
    (data_dir / "valkey" / "valkey.sock").touch()

    with new() as server, client(server) as valkey:
        assert valkey.get("k") == "v"
    assert process.poll() is None


def test_a_server_without_a_pid_file_is_not_joined_by_a_second_one(new, data_dir):
    with new() as server:
        (data_dir / "valkey" / "valkey.pid").unlink()
        (data_dir / "valkey.lock").unlink()
        with pytest.raises(
            SetupError, match=r"no pid file answers at .*valkey\.sock: end that process first"
        ):
            new().start()
        with client(server) as valkey:
            assert valkey.ping()


def test_a_long_data_directory_gets_a_short_socket(directory):
    with EmbeddedValkey(directory / ("long" * 25) / "data") as server, client(server) as valkey:
        assert valkey.ping()
        assert str(directory) not in server.url


def test_a_data_directory_with_unusual_characters_works(directory):
    for value in (None, "v"):
        with EmbeddedValkey(directory / "it's, 100% dätä") as server, client(server) as valkey:
            assert valkey.get("k") == value
            valkey.set("k", "v")


def test_a_broken_store_is_told_with_its_complaint(new, data_dir):
    with new() as server, client(server) as valkey:
        valkey.set("k", "v")
    [manifest] = (data_dir / "valkey" / "appendonlydir").glob("*.manifest")
    manifest.write_text("nonsense\n")
    with pytest.raises(
        SetupError, match=r"Valkey ended with code 1 while starting: .+ \(log: .*valkey\.log\)"
    ):
        new().start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_store_of_another_user_is_named(new, data_dir):
    with new():
        pass
    os.chown(data_dir / "valkey", 65534, 65534)
    with pytest.raises(SetupError, match="belongs to user 65534, we are user 0"):
        new().start()
