"""Which jobs look at this moment, and which of them are late: one that hangs tells nothing itself."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class RunningLooks:
    """The runs that are under way, of jobs that only look. Safe for threads.

    A job that changes things may take as long as there is work; a look is over soon, or Postgres (or the
    broker) stands still: then neither an answer nor an error comes, for as long as its machine is up.

    Args:
        monotonic: seconds of a clock that only goes forward.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._due: dict[str, tuple[float, float]] = {}

    def begin(self, name: str, *, deadline_seconds: float) -> None:
        """Notes that a run of this job has begun."""
        with self._lock:
            self._due[name] = (self._monotonic() + deadline_seconds, deadline_seconds)

    def end(self, name: str) -> None:
        """Notes that it has ended."""
        with self._lock:
            self._due.pop(name, None)

    def list_late(self) -> list[str]:
        """Jobs whose run has gone on for a whole deadline since it began or was listed last."""
        with self._lock:
            now = self._monotonic()
            late = [name for name, (due, _) in self._due.items() if due <= now]
            for name in late:
                deadline_seconds = self._due[name][1]
                self._due[name] = (now + deadline_seconds, deadline_seconds)
            return late
