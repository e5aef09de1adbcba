"""A question, answer or reference as it is looked for in contexts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragsonde.judging.lexical.languages import guess_language, is_stop
from ragsonde.judging.lexical.pieces import cut_grams, cut_runs
from ragsonde.judging.lexical.words import is_unspaced, normalize, tokenize, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

_GRAM_CHARACTERS = 4
_UNSPACED_GRAM_CHARACTERS = 2
_RUN_TOKENS = 3

_YES_NO = frozenset(
    token
    for words in (
        "yes no not yeah true false correct incorrect ja nein richtig falsch sí verdadero falso oui non vrai",
        "faux да нет верно неверно نعم لا हाँ नहीं जी evet",
        "是 是的 不是 不 对 否 ใช่ ไม่ ไม่ใช่ はい いいえ 네 아니요 예",
    )
    for word in words.split()
    for token in tokenize(normalize(word))
)

_ASKS_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|long|old|tall|far|high|fast|big|large|often|deep|wide|heavy)"
    r"|(?:what|which) (?:year|date|day|month|percent|percentage|number|time|age)"
    r"|wann|wie ?(?:viele?|hoch|alt|lange?|groß|weit|oft|schnell)|welche[mns]? (?:jahr|datum|tag)"
    r"|cuándo|cuánt[oa]s?|qué (?:año|fecha|día)|quand|combien|quelle (?:année|date)"
    r"|когда|сколько|каком году)\b"
    r"|多少|何时|什么时候|几[年月个岁]|哪一?年|いつ|いくつ|何年|何人|كم|متى|कब|कितन|เมื่อใด|เมื่อไ|เท่าไ|กี่"
)
"""Questions after a point in time, a count or a measure, in the languages with stop words and a few more."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What is looked for.

    Attributes:
        weights: its content tokens (all tokens where it has no others) with what each carries.
        total: the sum of the weights.
        grams: its distinct character 4-grams (pairs where it has an unspaced script).
        gram_characters: 4 or 2.
        runs: its distinct runs of three tokens (fewer where it is shorter), joined by spaces.
        run_tokens: how many tokens a run has.
        numbers: its tokens with a digit.
        language: as far as can be told.
        asks_number: a question whose answer is likely to be a number.
    """

    weights: dict[str, float]
    total: float
    grams: frozenset[str]
    gram_characters: int
    runs: frozenset[str]
    run_tokens: int
    numbers: frozenset[str]
    language: str | None
    asks_number: bool

    def cover(self, within: AbstractSet[str]) -> float:
        """The weighted share of its words that `within` holds, 0..1; 0 when it has none."""
        if not self.total:
            return 0.0
        weights = self.weights
        return sum([weights[word] for word in weights.keys() & within]) / self.total


def read_question(text: str) -> Probe:
    """The probe of a question; empty for a text without a word."""
    normalized = " ".join(normalize(text).split())
    asks_number = _ASKS_NUMBER.search(normalized) is not None
    return _read(normalized, tokenize(normalized), asks_number=asks_number)


def read_answer(text: str, *, questions: Sequence[Probe]) -> Probe | None:
    """What an answer says beyond the questions, so that an answer that repeats the question is no evidence.

    All of it where it says nothing else; None where there is nothing to look for: no word, a bare yes or no.
    """
    normalized = " ".join(normalize(text).split())
    tokens = tokenize(normalized)
    if not tokens or _is_bare(tokens):
        return None
    answer = _read(normalized, tokens, asks_number=False)
    weights, grams, runs, numbers = answer.weights, answer.grams, answer.runs, answer.numbers
    for question in questions:
        weights = {word: weight for word, weight in weights.items() if word not in question.weights}
        grams -= question.grams
        runs -= question.runs
        numbers -= question.numbers
    weights = weights or answer.weights
    return replace(
        answer,
        weights=weights,
        total=sum(weights.values()),
        grams=grams or answer.grams,
        runs=runs or answer.runs,
        numbers=numbers,
    )


def weigh_words(tokens: Sequence[str], *, language: str | None) -> dict[str, float]:
    """The content tokens, in order, with what each carries; all tokens where none has content."""
    words = [token for token in dict.fromkeys(tokens) if not is_stop(token, language=language)]
    return {word: weigh(word) for word in words or dict.fromkeys(tokens)}


def _is_bare(tokens: Sequence[str]) -> bool:
    """Whether an answer says yes or no and nothing more."""
    said = frozenset(tokens)
    return bool(said & _YES_NO) and all(is_stop(token, language=None) for token in said - _YES_NO)


def _read(normalized: str, tokens: Sequence[str], *, asks_number: bool) -> Probe:
    distinct = frozenset(tokens)
    language = guess_language(normalized, distinct)
    weights = weigh_words(tokens, language=language)
    characters = _UNSPACED_GRAM_CHARACTERS if is_unspaced(normalized) else _GRAM_CHARACTERS
    run_tokens = min(_RUN_TOKENS, len(tokens))
    return Probe(
        weights=weights,
        total=sum(weights.values()),
        grams=cut_grams(normalized, characters=characters) if tokens else frozenset(),
        gram_characters=characters,
        runs=cut_runs(tokens, tokens=run_tokens) if tokens else frozenset(),
        run_tokens=run_tokens,
        numbers=frozenset(token for token in distinct if token[0].isdigit()),
        language=language,
        asks_number=asks_number,
    )
