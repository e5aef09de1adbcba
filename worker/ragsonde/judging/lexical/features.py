"""What is measured about a context and its sentences: every feature in 0..1, higher for more in common."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.judging.lexical.languages import is_stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.lexical.probe import Probe
    from ragsonde.judging.lexical.reading import Reading

QUESTION_FEATURES = ("q_cov", "q_sent", "q_gram", "q_lead", "q_first")
ANSWER_FEATURES = ("a_new", "a_sent", "joint", "a_gram", "a_tri", "a_num")
SENTENCE_FEATURES = ("s_question", "s_answer")

_DIGIT = re.compile(r"\d")
_FIRST_WORDS = 2


class Measure(NamedTuple):
    """The features of one context.

    Attributes:
        values: in the order of the names above.
        by_sentence: per sentence the share of the question's, or the answer's, words it holds.
    """

    values: tuple[float, ...]
    by_sentence: list[float]


def measure_question(question: Probe, reading: Reading) -> Measure:
    """How much of a question a context holds.

    `q_cov`: share of its words; `q_sent`: the same in the best sentence, where a question after a number
    counts the best sentence with a number and the best of all by halves; `q_gram`: share of its character
    grams; `q_lead`: share of its words in the first sentence; `q_first`: how many of the context's first two
    words of content it has, by halves: texts name their subject first.
    """
    by_sentence = [question.cover(sentence) for sentence in reading.sentences]
    best = max(by_sentence, default=0.0)
    if question.asks_number:
        shares = zip(by_sentence, reading.texts, strict=True)
        best = (
            best + max((share for share, text in shares if share and _DIGIT.search(text)), default=0.0)
        ) / 2
    values = (
        question.cover(reading.words),
        best,
        _share_grams(question, reading),
        by_sentence[0] if by_sentence else 0.0,
        _find_first(question, reading),
    )
    return Measure(values, by_sentence)


def measure_answer(answer: Probe, reading: Reading, *, question_by_sentence: Sequence[float]) -> Measure:
    """How much of an answer, beyond the question, a context holds.

    `a_new`: share of its words; `a_sent`: the same in the best sentence; `joint`: best sentence by the lesser
    of its shares of question and answer; `a_gram`, `a_tri`: share of its character grams and token runs;
    `a_num`: share of its numbers.
    """
    by_sentence = [answer.cover(sentence) for sentence in reading.sentences]
    values = (
        answer.cover(reading.words),
        max(by_sentence, default=0.0),
        max(map(min, question_by_sentence, by_sentence), default=0.0),
        _share_grams(answer, reading),
        reading.share_runs(answer.runs, tokens=answer.run_tokens),
        len(answer.numbers & reading.words) / max(1, len(answer.numbers)),
    )
    return Measure(values, by_sentence)


def _find_first(question: Probe, reading: Reading) -> float:
    words = (token for token in reading.tokens if not is_stop(token, language=None))
    return sum([word in question.weights for word in islice(words, _FIRST_WORDS)]) / _FIRST_WORDS


def _share_grams(probe: Probe, reading: Reading) -> float:
    return reading.share_grams(probe.grams, characters=probe.gram_characters)
