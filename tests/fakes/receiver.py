"""A broker's connection and a tally for the receiver, both lists."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import BrokerLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.receiver.tally import Outcome


class ListPublisher:
    """Keeps what is published.

    Attributes:
        published: bodies with their content types, in order.
        room: how many more messages the queue takes; None: any number.
        on_publish: called before each.
    """

    def __init__(self, *, room: int | None = None, on_publish: Callable[[], None] = lambda: None) -> None:
        self.published: list[tuple[bytes, str | None]] = []
        self.room = room
        self.on_publish = on_publish
        self.attempts = 0

    @property
    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.published]

    def publish_trace(self, body: bytes, *, content_type: str | None) -> None:
        self.attempts += 1
        self.on_publish()
        if self.room is not None:
            if self.room == 0:
                raise BrokerLostError("amqp://127.0.0.1: the broker refused the message: its queue is full")
            self.room -= 1
        self.published.append((body, content_type))


class CountingTally:
    """Counts in dictionaries.

    Attributes:
        messages: number by outcome.
        requests: number by path and status.
    """

    def __init__(self) -> None:
        self.messages: Counter[str] = Counter()
        self.requests: Counter[tuple[str, int]] = Counter()

    def count_request(self, *, path: str, status: int, seconds: float) -> None:
        assert seconds >= 0
        self.requests[path, status] += 1

    def count_messages(self, outcome: Outcome, number: int = 1) -> None:
        self.messages[outcome.value] += number
        self.messages += Counter()  # drops zeros
