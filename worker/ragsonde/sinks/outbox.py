"""A bounded queue before a destination, emptied by a thread of its own: nobody ever waits for a sink."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from ragsonde.sinks.delivery import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.sinks.delivery import Destination
    from ragsonde_schemas.score_event import ScoreEvent

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
CLOSE_SECONDS = 5.0


class Outbox:
    """Keeps results until its destination has taken them, in order; what finds no room is dropped.

    Delivery is at least once while the process lives: a batch whose answer was lost is sent again. What waits
    when the process is killed is not sent.

    Args:
        name: in series and logs.
        destination: where batches go.
        size: results that may wait.
        batch: most results in one delivery.
        attempts: how often a batch is tried.
        on_sent, on_dropped: told how many.
        pause: lets so many seconds pass, or less when the outbox closes; None: its own.
    """

    def __init__(
        self,
        name: str,
        destination: Destination,
        *,
        size: int,
        batch: int,
        attempts: int,
        on_sent: Callable[[int], None],
        on_dropped: Callable[[int], None],
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self.name = name
        self._destination = destination
        self._size = size
        self._batch = batch
        self._attempts = attempts
        self._on_sent = on_sent
        self._on_dropped = on_dropped
        self._waiting: deque[ScoreEvent] = deque()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._pause = pause or self._closing.wait
        self._thread: threading.Thread | None = None
        self._is_full = False

    def put(self, events: Sequence[ScoreEvent]) -> None:
        """Adds results, as far as there is room; returns at once."""
        with self._changed:
            room = 0 if self._closing.is_set() else max(0, self._size - len(self._waiting))
            self._waiting.extend(events[:room])
            dropped = max(0, len(events) - room)
            if self._thread is None and self._waiting:
                self._thread = threading.Thread(target=self._run, name=f"sink-{self.name}", daemon=True)
                self._thread.start()
            self._changed.notify()
            has_become_full = bool(dropped) and not self._is_full
            self._is_full = bool(dropped)
        if dropped:
            self._on_dropped(dropped)
        if has_become_full:
            logger.warning("score_sink_full", extra={"sink": self.name, "size": self._size})

    def close(self, *, seconds: float = CLOSE_SECONDS) -> None:
        """Sends what waits, each batch once more at the most, and drops what is left after so long."""
        with self._changed:
            self._closing.set()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        with self._changed:
            left = len(self._waiting)
            self._waiting.clear()
        if left:
            self._drop(left, "the process ended")

    def _run(self) -> None:
        while batch := self._take():
            self._deliver(batch)

    def _take(self) -> list[ScoreEvent]:
        """The next batch; empty when the outbox is closed and nothing waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
            return [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]

    def _deliver(self, batch: Sequence[ScoreEvent]) -> None:
        for attempt in range(1, self._attempts + 1):
            try:
                refused = self._destination.deliver(batch)
            except Exception as error:  # noqa: BLE001 - a sink of whatever package costs its own results only
                words = str(error) if isinstance(error, DeliveryError) else type(error).__name__
                is_final = isinstance(error, DeliveryError) and error.is_final
                if is_final or attempt == self._attempts or self._closing.is_set():
                    self._drop(len(batch), words)
                    return
                logger.info("score_sink_waits", extra={"sink": self.name, "attempt": attempt, "error": words})
                self._pause(_choose_pause(attempt, error))
            else:
                self._on_sent(len(batch) - refused)
                if refused:
                    self._drop(refused, "refused by the other side")
                return

    def _drop(self, number: int, why: str) -> None:
        self._on_dropped(number)
        logger.warning("score_sink_dropped", extra={"sink": self.name, "results": number, "error": why})


def _choose_pause(attempt: int, error: Exception) -> float:
    """Doubled with each attempt, up to 30 s; as long as the other side asked for, up to twice that."""
    pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1))
    asked = error.retry_after_seconds if isinstance(error, DeliveryError) else None
    return max(pause, min(asked or 0.0, 2 * LONGEST_PAUSE_SECONDS))
