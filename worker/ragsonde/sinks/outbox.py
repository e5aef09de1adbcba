"""A bounded queue before a destination, emptied by a thread of its own: nobody ever waits for a sink."""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.sinks.delivery import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.sinks.delivery import Destination
    from ragsonde_schemas.score_event import ScoreEvent

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
CLOSE_SECONDS = 5.0


class _Failure(NamedTuple):
    """Why a batch was not taken, without contents.

    Attributes:
        asked_seconds: what the other side asked us to wait, 0 where it did not.
    """

    words: str
    is_final: bool = False
    asked_seconds: float = 0.0


class Outbox:
    """Keeps results until its destination has taken them, in order; what finds no room is dropped.

    Delivery is at least once while the process lives: a batch whose answer was lost is sent again. What waits
    when the process is killed is not sent. Each result is told once, as sent or as dropped, at the latest by
    `close`.

    Args:
        name: in series and logs.
        destination: where batches go.
        size: results that may wait.
        batch: most results in one delivery.
        attempts: how often a batch is tried.
        on_sent, on_dropped: told how many; quick, for results wait for it.
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
        self._in_flight = 0
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
                thread = threading.Thread(target=self._run, name=f"sink-{self.name}", daemon=True)
                thread.start()
                self._thread = thread
            self._changed.notify()
            has_become_full = bool(dropped) and not self._is_full
            self._is_full = bool(dropped)
        if dropped:
            self._on_dropped(dropped)
        if has_become_full:
            logger.warning("score_sink_full", extra={"sink": self.name, "size": self._size})

    def close(self, *, seconds: float = CLOSE_SECONDS) -> None:
        """Sends what waits, each batch once more at the most, and drops what is left after so long.

        What is being delivered then counts as dropped too: nobody waits for the answer any more.
        """
        with self._changed:
            self._closing.set()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        with self._changed:
            left = len(self._waiting) + self._in_flight
            self._waiting.clear()
            self._in_flight = 0
        if left:
            self._on_dropped(left)
            self._warn(left, "the process ended")

    def _run(self) -> None:
        while batch := self._take():
            try:
                outcome = self._deliver(batch)
            except BaseException as error:  # noqa: BLE001 - the thread goes on, whatever happens to one batch
                outcome = _Failure(type(error).__name__)
            try:
                self._settle(len(batch), outcome)
            except Exception:
                logger.exception("score_sink_uncounted", extra={"sink": self.name, "results": len(batch)})

    def _take(self) -> tuple[ScoreEvent, ...]:
        """The next batch; empty when the outbox is closed and nothing waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
            batch = tuple(self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting))))
            self._in_flight = len(batch)
            return batch

    def _deliver(self, batch: Sequence[ScoreEvent]) -> int | _Failure:
        """How many of the batch were refused for good, or why none was taken."""
        attempt = 1
        while True:
            outcome = self._try(batch)
            if not isinstance(outcome, _Failure) or outcome.is_final:
                return outcome
            if attempt >= self._attempts or self._closing.is_set():
                return outcome
            logger.info(
                "score_sink_waits", extra={"sink": self.name, "attempt": attempt, "error": outcome.words}
            )
            self._pause(_choose_pause(attempt, outcome.asked_seconds))
            attempt += 1

    def _try(self, batch: Sequence[ScoreEvent]) -> int | _Failure:
        try:
            refused: object = self._destination.deliver(batch)
        except DeliveryError as error:
            return _read_failure(error)
        except BaseException as error:  # noqa: BLE001 - a sink of whatever package costs its own results only
            return _Failure(type(error).__name__)
        if isinstance(refused, int) and not isinstance(refused, bool) and 0 <= refused <= len(batch):
            return refused
        found = refused if type(refused) is int else type(refused).__name__
        # final: it may well have taken the batch, and would get it again
        return _Failure(
            f"deliver() returned {found}, expected how many of {len(batch)} were refused", is_final=True
        )

    def _settle(self, size: int, outcome: int | _Failure) -> None:
        """Tells what became of a batch, unless `close` gave it up meanwhile."""
        refused, why = (
            (size, outcome.words) if isinstance(outcome, _Failure) else (outcome, "refused by the other side")
        )
        with self._changed:
            if not self._in_flight:
                return
            self._in_flight = 0
            if size > refused:
                self._on_sent(size - refused)
            if refused:
                self._on_dropped(refused)
        if refused:
            self._warn(refused, why)

    def _warn(self, number: int, why: str) -> None:
        logger.warning("score_sink_dropped", extra={"sink": self.name, "results": number, "error": why})


def _read_failure(error: DeliveryError) -> _Failure:
    """What a sink says of its failure; a foreign one may say anything, a text for seconds."""
    asked = error.retry_after_seconds
    is_number = isinstance(asked, int | float) and math.isfinite(asked)
    return _Failure(
        str(error), is_final=bool(error.is_final), asked_seconds=asked if asked and is_number else 0.0
    )


def _choose_pause(attempt: int, asked_seconds: float) -> float:
    """Doubled with each attempt, up to 30 s; as long as the other side asked for, up to twice that."""
    pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1))
    return max(pause, min(asked_seconds, 2 * LONGEST_PAUSE_SECONDS))
