"""What came of redacting something."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Replaced(NamedTuple, Generic[T]):
    """Something after redaction.

    Attributes:
        value: as it may be kept.
        counts: how many places were replaced, by kind.
    """

    value: T
    counts: dict[str, int]


def add_counts(*counts: dict[str, int]) -> dict[str, int]:
    """The sum by kind."""
    total: dict[str, int] = {}
    for one in counts:
        for kind, number in one.items():
            total[kind] = total.get(kind, 0) + number
    return total
