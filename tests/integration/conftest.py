from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from ragsonde.servers.postgres import EmbeddedPostgres

OWNER = Path(__file__).parent / "servers" / "stack_owner.py"


def pids_below(directory: Path) -> dict[int, str]:
    """The living processes that name the directory in their command or work in it (Linux only)."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            working_dir = str((entry / "cwd").readlink())
            if str(directory) in command or working_dir.startswith(str(directory)):
                found[int(entry.name)] = command
    return found


def poll_until(condition, *, seconds: float = 20.0):
    """What the condition returned when it was first true."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not true after {seconds} s: {condition}"
        time.sleep(0.01)
    return result


@pytest.fixture
def wait_until():
    return poll_until


@pytest.fixture
def processes_below():
    return pids_below


@pytest.fixture
def directory():
    """A directory that every user may pass through; in the end nothing runs in it any more."""
    path = Path(tempfile.mkdtemp(prefix="ragsonde-test-"))
    path.chmod(0o711)
    yield path
    left = pids_below(path)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
    shutil.rmtree(path, ignore_errors=True)
    assert left == {}


@pytest.fixture(scope="session")
def empty_cluster():
    """A data directory with an empty Postgres that was stopped; making one takes longer than most tests."""
    path = Path(tempfile.mkdtemp(prefix="ragsonde-test-"))
    path.chmod(0o711)
    with EmbeddedPostgres(path, state_dir=path / "state"):
        pass
    yield path
    shutil.rmtree(path)


@pytest.fixture
def data_dir(directory, empty_cluster):
    path = directory / "data"
    subprocess.run(["/bin/cp", "-a", empty_cluster, path], check=True)
    shutil.rmtree(path / "log")
    return path


@pytest.fixture
def state_dir(directory):
    """Where root keeps what the user of Postgres cannot reach, instead of below /var."""
    return directory / "state"


@pytest.fixture
def stranger():
    """Starts a process that has nothing to do with us."""
    with ExitStack() as stack:

        def start(**conditions) -> subprocess.Popen[bytes]:
            process = stack.enter_context(subprocess.Popen(["/bin/sleep", "600"], **conditions))
            stack.callback(process.kill)
            return process

        yield start


class Owner:
    """Another process that owns the stack."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdout is not None
        self.database_url, self.broker_url = json.loads(process.stdout.readline())

    @property
    def pid(self) -> int:
        return self.process.pid

    def leave(self) -> int:
        """Lets it end by itself."""
        self.process.communicate(b"\n")
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def other_owner(data_dir, state_dir):
    """Starts another process that owns the stack."""

    @contextmanager
    def start(*options: str, executable: str = sys.executable, **conditions):
        with subprocess.Popen(
            [executable, OWNER, data_dir, state_dir, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **conditions,
        ) as process:
            try:
                yield Owner(process)
            finally:
                process.kill()

    return start
