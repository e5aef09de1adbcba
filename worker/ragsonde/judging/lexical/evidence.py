"""What one context shows for and against: its features and probabilities under both heads."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from ragsonde.judging.lexical.features import measure_answer, measure_question
from ragsonde.judging.lexical.heads import QUERY_ANSWER, QUERY_ONLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.lexical.features import Measure
    from ragsonde.judging.lexical.heads import Head, Weights
    from ragsonde.judging.lexical.probe import Probe
    from ragsonde.judging.lexical.reading import Reading


@dataclass(frozen=True, slots=True)
class Estimate:
    """A probability and the features it comes from."""

    probability: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a context that is not blank shows.

    Attributes:
        query_only: towards the question.
        query_answer: towards question and answer; None without an answer to look for.
        reference: towards question and reference; None without one.
        sentences: per sentence the probability that it is on the subject; of the head with the answer if any.
    """

    query_only: Estimate
    query_answer: Estimate | None
    reference: Estimate | None
    sentences: tuple[float, ...]


def weigh_evidence(
    reading: Reading,
    *,
    questions: Sequence[Probe],
    answer: Probe | None,
    reference: Probe | None,
    weights: Weights,
) -> Evidence:
    """The evidence of one context; of several questions the better one counts, for each estimate."""
    asked = [measure_question(question, reading) for question in questions]
    by_sentence = [max(shares) for shares in zip(*(measure.by_sentence for measure in asked), strict=True)]
    alone = [measure.values for measure in asked]
    head = weights.context[QUERY_ANSWER]
    answered = _measure(answer, reading, by_sentence=by_sentence)
    referred = _measure(reference, reading, by_sentence=by_sentence)
    return Evidence(
        query_only=_take_best(alone, weights.context[QUERY_ONLY]),
        query_answer=None if answered is None else _take_best([row + answered.values for row in alone], head),
        reference=None if referred is None else _take_best([row + referred.values for row in alone], head),
        sentences=_estimate_sentences(by_sentence, answered, weights=weights),
    )


def _measure(probe: Probe | None, reading: Reading, *, by_sentence: Sequence[float]) -> Measure | None:
    return None if probe is None else measure_answer(probe, reading, question_by_sentence=by_sentence)


def _estimate_sentences(
    by_sentence: Sequence[float], answered: Measure | None, *, weights: Weights
) -> tuple[float, ...]:
    if answered is None:
        return tuple(weights.sentence[QUERY_ONLY].estimate((share,)) for share in by_sentence)
    pairs = zip(by_sentence, answered.by_sentence, strict=True)
    return tuple(map(weights.sentence[QUERY_ANSWER].estimate, pairs))


def _take_best(rows: Sequence[tuple[float, ...]], head: Head) -> Estimate:
    return max((Estimate(head.estimate(values), values) for values in rows), key=attrgetter("probability"))
