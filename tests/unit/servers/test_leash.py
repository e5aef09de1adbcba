from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragsonde.servers.launcher import CANNOT_BECOME_USER, CANNOT_ENTER_DIRECTORY, CANNOT_RUN_PROGRAM
from ragsonde.servers.leash import PLAIN_ENVIRONMENT, Account, run, spawn
from ragsonde.servers.processes import is_running, observe

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a child of its parent's death"
)

NOBODY = pwd.getpwnam("nobody")

# a parent on its own: starts a child on the leash, names it, and waits
PARENT = """
import os, pathlib, signal, sys
from ragsonde.servers.leash import PLAIN_ENVIRONMENT, Account, spawn
account = Account("nobody", int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 1 else None
child = spawn(["/bin/sleep", "600"], output=2, death_signal=signal.SIGTERM, environment=PLAIN_ENVIRONMENT,
              account=account)
print(child.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def spawned(*argv: str, **conditions):
    conditions = {"environment": PLAIN_ENVIRONMENT, "death_signal": signal.SIGKILL, "output": 2, **conditions}
    process = spawn(argv, **conditions)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(condition, *, seconds: float = 10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not true after {seconds} s"


def is_sleep(pid: int) -> bool:
    observed = observe(pid)
    return observed is not None and observed.command == "/bin/sleep 600"


def test_a_child_leads_a_session_of_its_own():
    with spawned("/bin/sleep", "600") as child:
        assert os.getsid(child.pid) == child.pid
        assert os.getpgid(child.pid) == child.pid


RESERVED_SIGNALS = 1 << (32 - 1) | 1 << (33 - 1)
"""The C library keeps 32 and 33 for itself and lets no program set them; what we inherited of them stays."""


@on_linux
def test_a_child_inherits_neither_our_signal_mask_nor_what_we_ignore():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        outcome = run(["/bin/cat", "/proc/self/status"])
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        signal.signal(signal.SIGINT, before)

    masks = dict(line.split(":\t") for line in outcome.output.splitlines() if line.startswith("Sig"))
    assert int(masks["SigBlk"], 16) == 0
    assert int(masks["SigIgn"], 16) & ~RESERVED_SIGNALS == 0


def test_a_program_gets_only_the_environment_it_is_given(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "secret")

    assert dict(line.split("=", 1) for line in run(["/usr/bin/env"]).output.splitlines()) == dict(
        PLAIN_ENVIRONMENT
    )


def test_a_program_runs_where_it_is_told(tmp_path):
    assert run(["/bin/pwd"], working_dir=tmp_path).output == f"{tmp_path}\n"


def test_what_a_program_says_on_both_outputs_is_kept_with_its_exit_code():
    outcome = run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"])

    assert (outcome.exit_code, sorted(outcome.output.split())) == (3, ["err", "out"])


def test_a_program_that_takes_too_long_is_killed():
    with pytest.raises(subprocess.TimeoutExpired):
        run(["/bin/sleep", "600"], timeout_seconds=0.2)


def test_a_program_that_is_not_there_is_told():
    outcome = run(["/nowhere/postgres"])

    assert outcome.exit_code == CANNOT_RUN_PROGRAM
    assert outcome.output == "cannot run /nowhere/postgres: No such file or directory\n"


def test_a_directory_that_cannot_be_entered_is_told():
    outcome = run(["/bin/true"], working_dir=Path("/nowhere"))

    assert outcome.exit_code == CANNOT_ENTER_DIRECTORY
    assert outcome.output == "cannot enter /nowhere: No such file or directory\n"


@as_root
def test_a_program_runs_as_the_account_without_roots_groups():
    account = Account("nobody", NOBODY.pw_uid, NOBODY.pw_gid)

    before = os.getgroups()
    os.setgroups([0, 4])
    try:
        outcome = run(["/bin/sh", "-c", "id -u; id -g; id -G"], account=account)
    finally:
        os.setgroups(before)

    assert outcome.output.split() == [str(NOBODY.pw_uid), str(NOBODY.pw_gid), str(NOBODY.pw_gid)]


@as_root
def test_an_accounts_way_into_a_directory_is_tried_as_that_account(tmp_path):
    tmp_path.chmod(0o700)
    account = Account("nobody", NOBODY.pw_uid, NOBODY.pw_gid)

    assert run(["/bin/true"], account=account, working_dir=tmp_path).exit_code == CANNOT_ENTER_DIRECTORY


@pytest.mark.skipif(os.geteuid() == 0, reason="root may become anybody")
def test_becoming_another_user_without_root_is_told():
    outcome = run(["/bin/true"], account=Account("root", 0, 0))

    assert outcome.exit_code == CANNOT_BECOME_USER
    assert outcome.output.startswith("cannot become user 0: ")


@on_linux
@pytest.mark.parametrize(
    "account", ["", pytest.param("nobody", marks=as_root)], ids=["same user", "another user"]
)
def test_a_child_ends_when_its_parent_is_killed(account):
    identity = [str(NOBODY.pw_uid), str(NOBODY.pw_gid)] if account else []
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *identity], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        wait_until(lambda: is_sleep(pid))
        child = observe(pid)
        assert child is not None
        parent.kill()
        parent.wait()
        wait_until(lambda: not is_running(child.identity))
