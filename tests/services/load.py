"""A producer under load: it publishes at its rate and insists until each message is confirmed."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from ragsonde.intake.publisher import Publisher
from ragsonde_schemas.errors import BrokerLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_RETRY_SECONDS = 0.2


def make_traces(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Traces `t-0`, `t-1`, ..., each with a content of its own."""
    for number in numbers:
        yield {
            "trace_id": f"t-{number}",
            "app": "chaos",
            "query": f"How long does refund number {number} take?",
            "contexts": [
                f"Refund number {number} is issued within {number % 30 + 1} days.",
                "Shipping inside the EU takes three to five working days.",
            ],
            "answer": f"Within {number % 30 + 1} days.",
        }


class Load:
    """A thread that publishes.

    Args:
        broker_url: where to.
        messages: traces, or bodies as they are.
        per_second: None: as fast as the broker confirms.

    Attributes:
        confirmed: how many the broker has.
        refusals: how often it had to try again.
    """

    def __init__(
        self, broker_url: str, messages: Iterable[dict[str, Any] | bytes], *, per_second: float | None = None
    ) -> None:
        self.confirmed = self.refusals = 0
        self._messages, self._per_second = messages, per_second
        self._publisher = Publisher(broker_url)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._publish_all, name="load", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._stopping.set()
        self._thread.join()
        self._publisher.close()

    def _publish_all(self) -> None:
        begun = time.monotonic()
        for number, message in enumerate(self._messages):
            if self._per_second is not None:
                self._stopping.wait(begun + number / self._per_second - time.monotonic())
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            while not self._stopping.is_set() and not self._publish(body):
                self._stopping.wait(_RETRY_SECONDS)

    def _publish(self, body: bytes) -> bool:
        try:
            self._publisher.publish_trace(body, content_type=None)
        except BrokerLostError:
            self.refusals += 1
            return False
        self.confirmed += 1
        return True
