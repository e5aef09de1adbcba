"""A context as the judge reads it: normalized and tokenized once, whatever is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragsonde.judging.lexical.pieces import cut_grams, cut_runs, join_tokens
from ragsonde.judging.lexical.words import normalize, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEW = 64
"""So many pieces are faster searched one by one than looked up among all pieces of the text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a context, sentence by sentence.

    Attributes:
        texts: per sentence the normalized text, white space as single spaces.
        sentences: per sentence the set of its tokens.
        text: all sentences, joined by spaces.
        tokens: of all sentences, in order.
        words: the set of these.
        sequence: the tokens as one text.
    """

    texts: tuple[str, ...]
    sentences: tuple[frozenset[str], ...]
    text: str
    tokens: tuple[str, ...]
    words: frozenset[str]
    sequence: str
    _grams: dict[int, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)

    def share_grams(self, grams: frozenset[str], *, characters: int) -> float:
        """The share of these runs of so many characters that it holds, 0..1; 0 of none."""
        if not grams:
            return 0.0
        if len(grams) <= _FEW:
            text = self.text
            return sum([gram in text for gram in grams]) / len(grams)
        if characters not in self._grams:
            self._grams[characters] = cut_grams(self.text, characters=characters)
        return len(grams & self._grams[characters]) / len(grams)

    def share_runs(self, runs: frozenset[str], *, tokens: int) -> float:
        """The share of these runs of so many tokens that it holds, 0..1; 0 of none."""
        if not runs:
            return 0.0
        if len(runs) <= _FEW:
            sequence = self.sequence
            return sum([run in sequence for run in runs]) / len(runs)
        return len(runs & cut_runs(self.tokens, tokens=tokens)) / len(runs)


def read_sentences(texts: Sequence[str]) -> Reading:
    """The reading of a context that consists of these sentences."""
    normalized = tuple(" ".join(normalize(text).split()) for text in texts)
    tokens = [tokenize(text) for text in normalized]
    flat = tuple(token for part in tokens for token in part)
    return Reading(
        texts=normalized,
        sentences=tuple(map(frozenset, tokens)),
        text=" ".join(normalized),
        tokens=flat,
        words=frozenset(flat),
        sequence=join_tokens(flat),
    )
