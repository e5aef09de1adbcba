"""A broker for the monitor's jobs that keeps what is published in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.errors import BrokerLostError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.intake.work_message import WorkKey


class ListBroker:
    """Counts what is published as messages of the work queue.

    Attributes:
        published: keys, in order.
        batches: how many keys each publish had.
        queues: to which queue each went.
        depths: messages by queue, where a test says so.
        is_away: every call fails.
        refuses_publishing: only publishing fails: the broker went away in between.
    """

    def __init__(self, *, waiting: int = 0) -> None:
        self.published: list[WorkKey] = []
        self.batches: list[int] = []
        self.queues: list[str] = []
        self.depths: dict[str, int] = {}
        self.is_away = False
        self.refuses_publishing = False
        self._waiting = waiting

    def publish_work(self, keys: Sequence[WorkKey], *, queue: str = "ragsonde.work") -> None:
        self._require_presence()
        if self.refuses_publishing:
            raise BrokerLostError("amqp://127.0.0.1: not confirmed")
        self.published.extend(keys)
        self.batches.append(len(keys))
        self.queues.append(queue)

    def count_messages(self) -> dict[str, int]:
        self._require_presence()
        return {"ragsonde.traces": 0, "ragsonde.work": self._waiting + len(self.published), **self.depths}

    def _require_presence(self) -> None:
        if self.is_away:
            raise BrokerLostError("amqp://127.0.0.1: connection refused")
