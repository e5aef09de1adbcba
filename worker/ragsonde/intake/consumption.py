"""Whether this process consumes: the pulse of its loop, and the brake while Postgres is away."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

LONGEST_SILENCE_SECONDS = 60.0


class Consumer(Protocol):
    """What is needed of Celery's consumer.

    Attributes:
        task_consumer: kombu's consumer of all queues; None while there is no connection.
    """

    task_consumer: Any

    def call_soon(self, action: Callable[[], None]) -> object:
        """Has the loop's thread do something."""
        ...


class Consumption:
    """Shared by the consumer's loop, the pool's threads and the health checks of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._consumer: Consumer | None = None
        self._last_beat = time.monotonic()
        self._is_connecting = True
        self._is_paused = False
        self._is_stopping = False

    @property
    def is_alive(self) -> bool:
        """True when the loop has turned within 60 s, or is busy reconnecting to a broker that is away."""
        return self._is_connecting or time.monotonic() - self._last_beat < LONGEST_SILENCE_SECONDS

    @property
    def is_connected(self) -> bool:
        """True when the consumer has a channel to the broker and its loop turns."""
        return not self._is_connecting and self.is_alive

    @property
    def is_paused(self) -> bool:
        """True while no deliveries are taken, because Postgres is away."""
        return self._is_paused

    def on_connecting(self) -> None:
        """The consumer begins to connect."""
        self._is_connecting = True

    def on_consuming(self, consumer: Consumer) -> None:
        """The consumer's loop begins to turn."""
        with self._lock:
            self._consumer = consumer
            self._is_connecting = False
        self.beat()
        self._call_soon()

    def beat(self) -> None:
        """The loop has turned."""
        self._last_beat = time.monotonic()

    def on_database(self, is_back: bool) -> None:  # noqa: FBT001 - the one fact that is told
        """Stops taking deliveries while Postgres is away, takes them again when it is back."""
        with self._lock:
            if self._is_paused is (not is_back):
                return
            self._is_paused = not is_back
        logger.warning("consumption_resumed" if is_back else "consumption_paused")
        self._call_soon()

    def on_stopping(self) -> None:
        """The process is asked to end: from now on nothing is taken any more, whatever comes back."""
        self._is_stopping = True

    def _call_soon(self) -> None:
        consumer = self._consumer
        if consumer is not None:
            # a channel belongs to the loop's thread; which of two changes was the last is read there, too
            consumer.call_soon(lambda: self._apply(consumer))

    def _apply(self, consumer: Consumer) -> None:
        # what is due soon is also done while the loop ends, when nobody is there to work on a delivery
        if self._is_stopping or consumer.task_consumer is None:
            return
        if self._is_paused:
            consumer.task_consumer.cancel()
        else:
            consumer.task_consumer.consume()
