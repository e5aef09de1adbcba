"""Native messages about a torch, whose relevant contexts are known beforehand.

The mock provider calls a context relevant that shares a word with the question; numbers have at most three
digits, so they are no words to it and every trace has a content of its own.
"""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTION = "Which battery does the torch need?"
PATTERNS = ((1, 0, 1), (0, 1), (1,), (1, 1, 0), (0, 0, 1), (1, 0, 0, 1))
"""For each context in order whether it is relevant."""
RELEVANT = "The torch takes one battery of size AA."
IRRELEVANT = "Our shop opens at nine."


def make_messages(count: int, *, prefix: str = "t", answers: str = "a") -> list[dict[str, Any]]:
    """So many messages, at most 1,000, of all patterns in turn; equal `answers` give equal contents."""
    return [
        {
            "schema_version": "1",
            "trace_id": f"{prefix}-{number}",
            "app": "shop",
            "query": QUESTION,
            "answer": f"A fresh battery, {answers} {number}.",
            "contexts": [{"content": RELEVANT if bit else IRRELEVANT} for bit in pattern],
        }
        for number, pattern in enumerate(islice(cycle(PATTERNS), count))
    ]


def pattern_of(trace_id: str) -> tuple[int, ...]:
    """Which contexts of a trace are relevant."""
    return PATTERNS[int(trace_id.rsplit("-", 1)[1]) % len(PATTERNS)]


def expect_precision(pattern: tuple[int, ...]) -> float:
    """Average precision: the mean over relevant ranks of the share of relevant contexts down to there."""
    return sum(sum(pattern[: rank + 1]) / (rank + 1) for rank in _ranks(pattern)) / sum(pattern)


def expect_position(pattern: tuple[int, ...]) -> float:
    """The share of the weights 1, 1/2, 1/3 ... that is on relevant contexts."""
    return sum(1 / (rank + 1) for rank in _ranks(pattern)) / sum(
        1 / (rank + 1) for rank in range(len(pattern))
    )


def _ranks(pattern: tuple[int, ...]) -> Iterator[int]:
    return (rank for rank, bit in enumerate(pattern) if bit)
