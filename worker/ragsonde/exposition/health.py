"""Whether the process works: named checks, each bounded in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Lock, Thread

from ragsonde_schemas.errors import RagsondeError

Check = Callable[[], str | None]
"""Returns None when all is well, else a sentence that says what is not. Raising means not well, too."""


class Health:
    """Some checks that together say whether the process is alive, or ready.

    A check that hangs is reported as failing and is not started again before it has come back, so that probes
    cannot pile up behind a dead network.

    Args:
        checks: by the name of the part they look at.
        timeout_seconds: for all checks together; they run side by side.
    """

    def __init__(self, checks: Mapping[str, Check], *, timeout_seconds: float = 4.0) -> None:
        self._checks = dict(checks)
        self._timeout_seconds = timeout_seconds
        self._running: dict[str, Future[str | None]] = {}
        self._lock = Lock()

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what is looked at."""
        return tuple(self._checks)

    def find_problems(self) -> dict[str, str]:
        """What is wrong, by the part's name; empty when all is well. Never raises."""
        started = {name: self._start(name) for name in self._checks}
        ends_at = time.monotonic() + self._timeout_seconds
        problems: dict[str, str] = {}
        for name, future in started.items():
            problem = self._await(future, ends_at=ends_at)
            if problem is not None:
                problems[name] = problem
        return problems

    def _await(self, future: Future[str | None], *, ends_at: float) -> str | None:
        try:
            error = future.exception(timeout=max(0.0, ends_at - time.monotonic()))
        except TimeoutError:
            return f"no answer within {self._timeout_seconds:g} s"
        if error is None:
            return future.result()
        # A driver's message may hold an address with its password; our own never do.
        return str(error) if isinstance(error, RagsondeError) else type(error).__name__

    def _start(self, name: str) -> Future[str | None]:
        with self._lock:
            running = self._running.get(name)
            if running is not None and not running.done():
                return running
            future = self._running[name] = Future()
        Thread(target=_run, args=(self._checks[name], future), name=f"health-{name}", daemon=True).start()
        return future


class Heartbeat:
    """A check that fails when a loop has not turned for some time."""

    def __init__(
        self, *, max_age_seconds: float = 60.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_age_seconds = max_age_seconds
        self._monotonic = monotonic
        self._beaten_at = monotonic()

    def beat(self) -> None:
        """Says that the loop has turned."""
        self._beaten_at = self._monotonic()

    def check(self) -> str | None:
        """None while the loop turns, else for how long it has stood still."""
        age_seconds = self._monotonic() - self._beaten_at
        if age_seconds <= self._max_age_seconds:
            return None
        return f"has not turned for {age_seconds:.0f} s, expected once in {self._max_age_seconds:g} s"


def _run(check: Check, future: Future[str | None]) -> None:
    try:
        future.set_result(check())
    except BaseException as error:  # noqa: BLE001 - whatever stops a check is its result; the caller reports it
        future.set_exception(error)
