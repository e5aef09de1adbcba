"""Starting programs that do not outlive us and that a Ctrl-C at the terminal does not reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAUNCHER = Path(__file__).with_name("launcher.py")

PLAIN_ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""For programs that are not ours: no PG* variable and no secret of ours reaches them."""


@dataclass(frozen=True)
class Account:
    """A user of this machine that a program runs as."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Outcome:
    """How a program that was waited for ended: its exit code and what it wrote to both outputs."""

    exit_code: int
    output: str


def spawn(
    argv: Sequence[str],
    *,
    output: int,
    death_signal: signal.Signals,
    environment: Mapping[str, str],
    account: Account | None = None,
    working_dir: Path = Path("/"),
) -> subprocess.Popen[bytes]:
    """The started program, in a session of its own, with no signal blocked or ignored.

    On Linux it gets `death_signal` when the thread that called this ends, however it ends: call it from a
    thread that lives as long as the program shall. Elsewhere it outlives a killed parent.

    Args:
        argv: absolute path of the program and its arguments.
        output: file descriptor for both its outputs.
        death_signal: the polite one for a server that wants to close its files, SIGKILL for what can bear it.
        environment: all its variables.
        account: whom it runs as; None: as we do.
        working_dir: entered after becoming `account`.
    """
    return subprocess.Popen(  # noqa: S603 - the program is from a wheel or is our own
        _launch_argv(argv, death_signal=death_signal, account=account, working_dir=working_dir),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        start_new_session=True,
    )


def run(
    argv: Sequence[str],
    *,
    account: Account | None = None,
    working_dir: Path = Path("/"),
    timeout_seconds: float = 120.0,
) -> Outcome:
    """How the program ended, after waiting for it; exit codes 125 to 127 are the launcher's.

    Raises:
        subprocess.TimeoutExpired: it was killed after `timeout_seconds`.
    """
    completed = subprocess.run(  # noqa: S603 - the program is from a wheel
        _launch_argv(argv, death_signal=signal.SIGKILL, account=account, working_dir=working_dir),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(PLAIN_ENVIRONMENT),
        start_new_session=True,
        timeout=timeout_seconds,
        check=False,
    )
    return Outcome(completed.returncode, completed.stdout.decode(errors="replace"))


def _launch_argv(
    argv: Sequence[str], *, death_signal: signal.Signals, account: Account | None, working_dir: Path
) -> list[str]:
    uid, gid = (account.uid, account.gid) if account is not None else (-1, -1)
    conditions = [os.getpid(), int(death_signal), uid, gid, working_dir]
    return [sys.executable, "-I", "-S", str(_LAUNCHER), *map(str, conditions), *argv]
