"""What is counted of the receiver's work."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """What became of one message."""

    ACCEPTED = "accepted"
    """confirmed by the broker"""
    REFUSED = "refused"
    """no worker could read it"""
    UNCONFIRMED = "unconfirmed"
    """the broker is away or its queue full; the client was asked to send it again"""


class Tally(Protocol):
    """Counts; never raises."""

    def count_request(self, *, path: str, status: int, seconds: float) -> None:
        """One request was answered.

        Args:
            path: one that exists, or `other`.
            status: of the answer.
            seconds: from its first byte to its answer.
        """
        ...

    def count_messages(self, outcome: Outcome, number: int = 1) -> None:
        """So many messages came to this."""
        ...
