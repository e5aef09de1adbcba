"""A small retriever that compares words: enough for a page that is gone to be missed truly."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.demo.corpus import Document

TOP_K = 5
_WORD = re.compile(r"[a-z0-9]+")
_PLURAL = 3
"""Words of more letters lose an s at their end."""


class Hit(NamedTuple):
    """A document that was found, and its score from 0 to 1."""

    document: Document
    score: float


class Index:
    """Documents that can be searched; what is not in it is not found.

    Args:
        documents: any number.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        counts = [Counter(_split(document.content)) for document in self._documents]
        frequency = Counter(word for count in counts for word in count)
        size = len(self._documents)
        self._rarity = {word: math.log(1 + size / number) for word, number in frequency.items()}
        self._vectors = [self._weigh(count) for count in counts]

    def search(self, text: str, *, most: int = TOP_K) -> tuple[Hit, ...]:
        """The documents most like the text, the best first: the cosine of words weighed by their rarity."""
        asked = self._weigh(Counter(_split(text)))
        scored = sorted(
            (
                (
                    -sum(weight * vector.get(word, 0.0) for word, weight in asked.items()),
                    document.id,
                    document,
                )
                for vector, document in zip(self._vectors, self._documents, strict=True)
            ),
            key=lambda one: one[:2],
        )
        return tuple(Hit(document, round(-score, 4)) for score, _, document in scored[:most])

    def _weigh(self, counts: Counter[str]) -> dict[str, float]:
        weights = {
            word: (1 + math.log(number)) * self._rarity.get(word, 0.0) for word, number in counts.items()
        }
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {word: weight / length for word, weight in weights.items()}


def _split(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return [word[:-1] if len(word) > _PLURAL and word.endswith("s") else word for word in words]
