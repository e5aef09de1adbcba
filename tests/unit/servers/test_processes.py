from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragsonde.servers import processes
from ragsonde.servers.processes import (
    ProcessIdentity,
    find_by_pid_file,
    is_running,
    observe,
    read_pid,
    stop_orphan,
)
from ragsonde_schemas.errors import SetupError

SLEEPER = "import signal, sys; {} print('ready', flush=True); signal.pause() # {}"


@contextmanager
def sleeper(mark: str = "mark", *, setup: str = ""):
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER.format(setup, mark)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(params=["proc", "ps"])
def way(request, monkeypatch):
    """Both ways of looking at processes; this machine's `ps` stands for the one of macOS."""
    if request.param == "ps":
        if not Path("/bin/ps").exists():
            pytest.skip("no ps here")
        monkeypatch.setattr(processes, "observe", processes._observe_with_ps)
    elif not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    return request.param


@pytest.mark.usefixtures("way")
class TestObserving:
    def test_a_living_process_is_observed_with_its_command(self):
        with sleeper("some mark") as process:
            observed = processes.observe(process.pid)
            assert observed is not None
            assert observed.identity.pid == process.pid
            assert "some mark" in observed.command
            assert processes.observe(process.pid) == observed

    def test_a_process_that_ended_is_not_running(self):
        with sleeper() as process:
            observed = processes.observe(process.pid)
            assert observed is not None
            process.kill()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a zombie: ended, not waited for
            assert processes.observe(process.pid) is None
            assert not is_running(observed.identity)
            process.wait()
            assert not is_running(observed.identity)

    def test_another_start_time_is_another_process(self):
        with sleeper() as process:
            observed = processes.observe(process.pid)
            assert observed is not None
            assert is_running(observed.identity)
            assert not is_running(ProcessIdentity(process.pid, observed.identity.started + "0"))


def test_a_process_with_a_strange_name_is_observed(tmp_path):
    program = tmp_path / "a) S (b"
    shutil.copy("/bin/cat", program)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"ready\n")
            process.stdin.flush()
            # before it echoes, it may still be between fork and its own command line
            assert process.stdout.readline() == b"ready\n"
            observed = observe(process.pid)
            assert observed is not None
            assert observed.command == str(program)
        finally:
            process.kill()


def test_no_process_has_an_impossible_pid():
    assert observe(2**22 + 1) is None


@pytest.mark.parametrize(
    ("content", "pid"),
    [("123\n/data\n", 123), ("  123  ", 123), ("", None), ("abc\n", None), ("-5\n", None), ("0", None)],
)
def test_the_first_line_of_a_pid_file_is_the_pid(tmp_path, content, pid):
    (tmp_path / "pid").write_text(content)

    assert read_pid(tmp_path / "pid") == pid


def test_a_missing_pid_file_has_no_pid(tmp_path):
    assert read_pid(tmp_path / "pid") is None


def test_a_pid_file_finds_its_process_only_by_the_command(tmp_path):
    with sleeper("our own mark") as process:
        (tmp_path / "pid").write_text(f"{process.pid}\n")

        found = find_by_pid_file(tmp_path / "pid", command_part="our own mark")
        assert found is not None
        assert found.pid == process.pid
        assert find_by_pid_file(tmp_path / "pid", command_part="another mark") is None


def test_an_orphan_is_stopped_politely():
    with sleeper() as process:
        observed = observe(process.pid)
        assert observed is not None
        stop_orphan(observed.identity, steps=[(signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)])
        assert process.wait() == -signal.SIGTERM


def test_an_orphan_that_does_not_listen_is_killed():
    with sleeper(setup="signal.signal(signal.SIGTERM, signal.SIG_IGN);") as process:
        observed = observe(process.pid)
        assert observed is not None
        stop_orphan(observed.identity, steps=[(signal.SIGTERM, 0.1), (signal.SIGKILL, 10.0)])
        assert process.wait() == -signal.SIGKILL


def test_a_stranger_with_the_pid_of_an_orphan_is_left_alone():
    with sleeper() as process:
        stop_orphan(ProcessIdentity(process.pid, "another time"), steps=[(signal.SIGKILL, 1.0)])
        assert process.poll() is None


def test_an_orphan_that_outlives_every_signal_is_named():
    with sleeper(setup="signal.signal(signal.SIGTERM, signal.SIG_IGN);") as process:
        observed = observe(process.pid)
        assert observed is not None
        with pytest.raises(SetupError, match=rf"process {process.pid} still uses .* kill -9 it"):
            stop_orphan(observed.identity, steps=[(signal.SIGTERM, 0.1)])
