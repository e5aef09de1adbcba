"""One delivery of a message in the ledger: received once and settled once, however often it is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.ledger import MessageEnd

if TYPE_CHECKING:
    from ragsonde.ports import ScoreSink

UNKNOWN_FORMAT = "unknown"


class MessageAccount:
    """Tells the sink of a delivery: received when it was decoded, settled when its traces are committed.

    What is tried again, because Postgres was away, is the same delivery: it is told once, and what an earlier
    try stored counts as stored by it.
    """

    def __init__(self, sink: ScoreSink) -> None:
        self._sink = sink
        self._is_received = False
        self._is_settled = False
        self._noted: set[MessageEnd] = set()

    def receive(self, format_name: str) -> None:
        """It was decoded as this format."""
        if not self._is_received:
            self._is_received = True
            self._sink.on_received(format_name)

    def note(self, end: MessageEnd) -> None:
        """This holds for a part of it."""
        self._noted.add(end)

    def settle(self, *, otherwise: MessageEnd = MessageEnd.FILTERED) -> None:
        """It is done: of what was noted, the first in the order of `MessageEnd` holds for all of it.

        Args:
            otherwise: what holds where nothing was noted.
        """
        if self._is_settled:
            return
        self._is_settled = True
        self.receive(UNKNOWN_FORMAT)
        self._sink.on_settled(next((end for end in MessageEnd if end in self._noted), otherwise))

    def close(self, end: MessageEnd) -> None:
        """It is over for us: what was not settled by then ended so, whatever was noted."""
        self._noted.clear()
        self.settle(otherwise=end)
