"""Keeping one process alive: noticing its death, starting it again after a while, saying so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from ragsonde.servers.backoff import Backoff
from ragsonde.servers.process_event import Change, ProcessEvent
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ragsonde.servers.log_file import LogFile


class Restartable(Protocol):
    """A process that can be started again after it died.

    Attributes:
        name: for people.
        log: what it writes.
    """

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def log(self) -> LogFile:
        """What it writes."""
        ...

    @property
    def pid(self) -> int:
        """Of its last life."""
        ...

    @property
    def exit_code(self) -> int | None:
        """What its last life ended with, negative for a signal; None while it lives."""
        ...

    def start(self) -> None:
        """Begins a new life.

        Raises:
            SetupError: it could not.
        """
        ...


class Watch:
    """Looks after one process that was started.

    Args:
        process: to be kept alive.
        backoff: how long to wait before it is started again.
        final_codes: exit codes after which it is not: it would end so each time.
        monotonic: the clock.

    Attributes:
        has_given_up: it ended with one of those.
    """

    def __init__(
        self,
        process: Restartable,
        *,
        backoff: Backoff | None = None,
        final_codes: Collection[int] = (),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._process = process
        self._backoff = backoff if backoff is not None else Backoff()
        self._final_codes = final_codes
        self._monotonic = monotonic
        self._begun_at = monotonic()
        self._due_at: float | None = None
        self.has_given_up = False

    def begin(self) -> ProcessEvent:
        """Starts the process.

        Raises:
            SetupError: it could not be started.
        """
        self._process.start()
        self._begun_at = self._monotonic()
        self._due_at = None
        return ProcessEvent(self._process.name, Change.STARTED, pid=self._process.pid)

    def tend(self) -> tuple[ProcessEvent, ...]:
        """What happened since the last call; to be called every moment. Keeps the log short as well."""
        self._process.log.shorten()
        if self.has_given_up:
            return ()
        if self._due_at is None:
            return () if self._process.exit_code is None else (self._note_death(),)
        if self._monotonic() < self._due_at:
            return ()
        try:
            return (self.begin(),)
        except SetupError as error:
            delay = self._postpone()
            return (
                ProcessEvent(
                    self._process.name, Change.NOT_STARTED, restart_in_seconds=delay, detail=str(error)
                ),
            )

    def _note_death(self) -> ProcessEvent:
        exit_code = self._process.exit_code
        self.has_given_up = exit_code in self._final_codes
        was_killed = exit_code is not None and exit_code < 0  # its last line does not say why, then
        is_told_elsewhere = was_killed or self.has_given_up
        return ProcessEvent(
            self._process.name,
            Change.DIED,
            pid=self._process.pid,
            exit_code=exit_code,
            restart_in_seconds=None if self.has_given_up else self._postpone(),
            detail="" if is_told_elsewhere else self._process.log.complaint(),
        )

    def _postpone(self) -> float:
        now = self._monotonic()
        delay = self._backoff.delay_after_life(now - self._begun_at)
        self._due_at = now + delay
        return delay
