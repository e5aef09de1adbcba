"""A started server: waiting until it serves, knowing whether it lives, ending it."""

from __future__ import annotations

import logging
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.servers.leash import PLAIN_ENVIRONMENT, Account, spawn
from ragsonde.servers.processes import ProcessIdentity, observe
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from ragsonde.servers.log_file import LogFile

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.02

StopSteps = Sequence[tuple[signal.Signals, float]]
"""Signals to send in turn, each with the seconds to wait for the end; the first is the polite one."""


@dataclass(frozen=True)
class ServerProgram:
    """How a server is started and stopped.

    Attributes:
        name: for people.
        argv: absolute path of the program and its arguments.
        stop_steps: the first signal is also the one the kernel sends when we die.
        log: what it writes.
        account: whom it runs as; None: as we do.
        environment: all its variables.
    """

    name: str
    argv: Sequence[str]
    stop_steps: StopSteps
    log: LogFile
    account: Account | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: PLAIN_ENVIRONMENT)


class ServerProcess:
    """One run of a server program, our child."""

    def __init__(self, program: ServerProgram) -> None:
        self._program = program
        self._identity: ProcessIdentity | None = None
        with program.log.open() as output:
            self._log_start_bytes = program.log.size_bytes()
            self._process = spawn(
                program.argv,
                output=output,
                death_signal=program.stop_steps[0][0],
                environment=program.environment,
                account=program.account,
                working_dir=Path("/"),
            )

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """What it ended with, negative for a signal; None while it lives."""
        return self._process.poll()

    @property
    def identity(self) -> ProcessIdentity:
        """Who it is, for other processes to recognise.

        Raises:
            SetupError: it never came up.
        """
        if self._identity is None:
            raise self._ended_error()
        return self._identity

    def has_said(self, text: str) -> bool:
        """Whether its log of this run holds the text."""
        return any(text in line for line in self._program.log.lines(since_bytes=self._log_start_bytes))

    def wait_until_ready(self, is_ready: Callable[[], bool], *, timeout_seconds: float) -> None:
        """Returns when the server serves; on any error, an interrupt too, it has been stopped.

        Raises:
            SetupError: it ended, or was not ready in time; its log's last complaint is told.
        """
        deadline = time.monotonic() + timeout_seconds
        try:
            while not is_ready():
                self._require_starting(deadline=deadline, timeout_seconds=timeout_seconds)
            observed = observe(self.pid)
            self._identity = observed.identity if observed is not None else None
        except BaseException:
            self.stop()
            raise
        logger.info("server_started", extra={"server": self._program.name, "server_pid": self.pid})

    def stop(self) -> None:
        """Ends it, politely first, and waits; nothing when it has ended.

        In a fork of the process that started it nothing happens either: there it is nobody's child.
        """
        for number, patience_seconds in self._program.stop_steps:
            self._process.send_signal(number)
            if self._ends_within(patience_seconds):
                logger.info("server_stopped", extra={"server": self._program.name, "server_pid": self.pid})
                return
            logger.warning("server_slow_to_stop", extra={"server": self._program.name, "signal": number.name})

    def _require_starting(self, *, deadline: float, timeout_seconds: float) -> None:
        if self._ends_within(_POLL_SECONDS):
            raise self._ended_error()
        if time.monotonic() > deadline:
            raise SetupError(
                f"{self._program.name} was not ready after {timeout_seconds:g} s: {self._complaint()}"
            )

    def _ends_within(self, seconds: float) -> bool:
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _ended_error(self) -> SetupError:
        return SetupError(
            f"{self._program.name} ended with code {self._process.poll()} while starting: {self._complaint()}"
        )

    def _complaint(self) -> str:
        complaint = self._program.log.complaint(since_bytes=self._log_start_bytes)
        return f"{complaint or 'it wrote nothing'} (log: {self._program.log.path})"
