"""A clock that stands until it is moved."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


class FakeClock:
    """Tells the time it was set to; both times move together, unless the wall clock jumps."""

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start
        self._monotonic = 1000.0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += timedelta(seconds=seconds)
            self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Moves the wall clock alone, as NTP or a person does; also backwards."""
        with self._lock:
            self._now += timedelta(seconds=seconds)
