"""What happened to a process that is watched over, told in one line."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum


class Change(StrEnum):
    """What happened."""

    STARTED = "started"
    DIED = "died"
    NOT_STARTED = "not_started"
    STOPPED = "stopped"
    KILLED = "killed"


@dataclass(frozen=True)
class ProcessEvent:
    """One change of one process; `str()` of it is a line for the terminal.

    Attributes:
        name: of the child or server.
        change: what happened.
        pid: of the process, where there was one.
        exit_code: what it ended with, negative for a signal; None while it lives.
        restart_in_seconds: until it is started again, where it will be.
        detail: the last complaint in its log, or why it could not start.
    """

    name: str
    change: Change
    pid: int | None = None
    exit_code: int | None = None
    restart_in_seconds: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        who = self.name if self.pid is None else f"{self.name} (pid {self.pid})"
        said = {
            Change.STARTED: "started",
            Change.DIED: f"ended unexpectedly with {_ending(self.exit_code)}",
            Change.NOT_STARTED: "could not be started",
            Change.STOPPED: "stopped",
            Change.KILLED: "did not stop in time and was killed",
        }[self.change]
        again = "" if self.restart_in_seconds is None else f", again in {self.restart_in_seconds:g} s"
        detail = f": {self.detail}" if self.detail else ""
        return f"{who} {said}{again}{detail}"


def _ending(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"code {exit_code}"
