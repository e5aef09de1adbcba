"""Which contexts the answer took its words from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.judging.lexical.probe import weigh_words
from ragsonde.judging.lexical.words import normalize, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.lexical.heads import CutOffs
    from ragsonde.judging.lexical.probe import Probe
    from ragsonde.judging.lexical.reading import Reading


def find_used(
    sentences: Sequence[str],
    readings: Sequence[Reading],
    *,
    language: str | None,
    questions: Sequence[Probe],
    cut_offs: CutOffs,
) -> list[bool]:
    """Per context, whether some sentence of the answer can come from it.

    It can where the context holds enough of what the sentence says beyond the question, and hardly less than
    the context that holds most of it. A sentence that only repeats the question tells nothing, unless all do.

    Args:
        sentences: of the answer.
        readings: of the contexts.
        language: of the answer.
        questions: what was asked.
        cut_offs: how much is enough.
    """
    said = [weigh_words(tokenize(normalize(sentence)), language=language) for sentence in sentences]
    asked = frozenset[str]().union(*(question.weights for question in questions))
    own = [{word: weight for word, weight in words.items() if word not in asked} for words in said]
    used = [False] * len(readings)
    for words in [words for words in own if words] or [words for words in said if words]:
        total = sum(words.values())
        shares = [sum([words[word] for word in words.keys() & reading.words]) / total for reading in readings]
        least = max(cut_offs.used, max(shares, default=0.0) - cut_offs.used_lead)
        used = [before or share >= least for before, share in zip(used, shares, strict=True)]
    return used
