"""How long to wait before something that died is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Backoff:
    """Doubling delays for what dies again and again; short ones again after it lived for a while.

    Attributes:
        shortest_seconds: after the first death.
        longest_seconds: however often it dies.
        calm_seconds: a life of that length makes the next death a first one.
    """

    shortest_seconds: float = 0.5
    longest_seconds: float = 30.0
    calm_seconds: float = 60.0
    _next_seconds: float | None = None

    def delay_after_life(self, lived_seconds: float) -> float:
        """Seconds to wait after a death; each call is one death."""
        if self._next_seconds is None or lived_seconds >= self.calm_seconds:
            self._next_seconds = self.shortest_seconds
        delay = self._next_seconds
        self._next_seconds = min(delay * 2, self.longest_seconds)
        return delay
