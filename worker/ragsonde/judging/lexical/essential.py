"""The fewest sentences that suffice to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEAR_BEST = 0.95
_SMALLEST_GAIN = 0.1
_MOST_SENTENCES = 5
_MOST_CANDIDATES = 64


class Candidate(NamedTuple):
    """A sentence that may be essential.

    Attributes:
        number: "c.k".
        probability: of the sentence head.
        words: its tokens.
    """

    number: str
    probability: float
    words: frozenset[str]


def pick_essential(
    candidates: Sequence[Candidate], *, targets: dict[str, float], sufficient: float
) -> tuple[str, ...] | None:
    """The numbers of the essential sentences in the order of the candidates; None = they do not suffice.

    First all that are about as good as the best, then, one by one, those that add most of what is asked for
    and answered, while that is at least a tenth of it; five at most.

    Args:
        candidates: all sentences of the trace, in order.
        targets: the tokens of question and answer, with what each carries.
        sufficient: the best sentence must reach it.
    """
    ranked = sorted(candidates, key=lambda candidate: -candidate.probability)[:_MOST_CANDIDATES]
    if not ranked or ranked[0].probability < sufficient:
        return None
    near = _NEAR_BEST * ranked[0].probability
    picked = [candidate for candidate in ranked if candidate.probability >= near][:_MOST_SENTENCES]
    others = [candidate for candidate in ranked if candidate.probability < near]
    total = sum(targets.values())
    open_words = targets.keys() - frozenset[str]().union(*(candidate.words for candidate in picked))
    while others and open_words and len(picked) < _MOST_SENTENCES:
        gains = [sum([targets[word] for word in open_words & candidate.words]) for candidate in others]
        best = max(range(len(others)), key=gains.__getitem__)
        if gains[best] < _SMALLEST_GAIN * total:
            break
        picked.append(others.pop(best))
        open_words -= picked[-1].words
    numbers = {candidate.number for candidate in picked}
    return tuple(candidate.number for candidate in candidates if candidate.number in numbers)


def explain_insufficient(candidates: Sequence[Candidate], *, sufficient: float) -> str:
    """Why they do not suffice, in words.

    Args: as for `pick_essential`.
    """
    best = max(candidates, key=lambda candidate: candidate.probability, default=None)
    if best is None:
        return "the contexts hold no sentence"
    return (
        "words are compared sentence by sentence, and none holds enough of those of question and answer: the "
        f"best, {best.number}, reaches {best.probability:.2f} of the {sufficient:.2f} that are needed"
    )
