"""Recognising a process that another process of ours left behind, and ending it."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence

_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class ProcessIdentity:
    """One process for ever: a pid comes again, a pid with its start time does not.

    Attributes:
        pid: number of the process.
        started: boot and moment of its start, as the system tells it; only ever compared.
    """

    pid: int
    started: str


@dataclass(frozen=True)
class ObservedProcess:
    """A living process: who it is and the command line it shows, arguments joined by spaces."""

    identity: ProcessIdentity
    command: str


def observe(pid: int) -> ObservedProcess | None:
    """The living process with this pid, or None; one that has ended but was not waited for is not living."""
    if platform.system() == "Linux":
        return _observe_in_proc(pid)
    return _observe_with_ps(pid)


def is_running(identity: ProcessIdentity) -> bool:
    """Whether this very process lives, not a later one with its pid."""
    observed = observe(identity.pid)
    return observed is not None and observed.identity == identity


def find_by_pid_file(path: Path, *, command_part: str) -> ProcessIdentity | None:
    """The living process a pid file names, if its command line holds `command_part`; else None.

    A stale file may name a pid that by now belongs to a stranger: the command line tells.
    """
    pid = read_pid(path)
    observed = observe(pid) if pid is not None else None
    if observed is None or command_part not in observed.command:
        return None
    return observed.identity


def read_pid(path: Path) -> int | None:
    """The number in the first line of a pid file; None where there is no file or no number."""
    try:
        first_line = path.read_text(errors="replace").partition("\n")[0].strip()
    except OSError:
        return None
    return int(first_line) if first_line.isascii() and first_line.isdigit() and int(first_line) > 0 else None


def stop_orphan(identity: ProcessIdentity, *, steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Ends a process that is not our child: each signal in turn, then so many seconds for it to end.

    Raises:
        SetupError: it belongs to another user, or outlived the last signal.
    """
    for number, patience_seconds in steps:
        if not is_running(identity):
            return
        try:
            os.kill(identity.pid, number)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise SetupError(
                f"process {identity.pid} still uses the data directory and belongs to another user: "
                f"stop it as that user, or as root"
            ) from error
        deadline = time.monotonic() + patience_seconds
        while is_running(identity) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    if is_running(identity):
        raise SetupError(f"process {identity.pid} still uses the data directory and does not end: kill -9 it")


def _observe_in_proc(pid: int) -> ObservedProcess | None:
    entry = Path("/proc") / str(pid)
    try:
        # the name, in brackets, may itself hold brackets and spaces
        fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    state, started_ticks = fields[0], fields[19]
    if state in {"Z", "X"}:
        return None
    return ObservedProcess(ProcessIdentity(pid, f"{boot_id}/{started_ticks}"), command)


def _observe_with_ps(pid: int) -> ObservedProcess | None:
    listing = subprocess.run(  # noqa: S603 - a fixed program and a number
        ["/bin/ps", "-ww", "-o", "stat=", "-o", "lstart=", "-o", "command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        env={"LC_ALL": "C", "TZ": "UTC"},
        check=False,
    ).stdout.strip()
    # Ss+ Mon Sep  1 12:00:00 2025 /path/of/postgres -D ...
    words = listing.split(maxsplit=6)
    all_words = 7
    if len(words) < all_words or words[0].startswith("Z"):
        return None
    return ObservedProcess(ProcessIdentity(pid, " ".join(words[1:6])), words[6])
