"""What the answer names and no context holds."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ragsonde.judging.lexical.languages import is_stop
from ragsonde.judging.lexical.words import normalize, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.judging.lexical.probe import Probe
    from ragsonde.judging.lexical.reading import Reading

_MOST_TERMS = 20
_MOST_CANDIDATES = 1000
_TERM = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_][^\W_]*(?:['\u2019-][^\W_]+)*")
_GROUPING = re.compile(r"(?<=\d)[.,](?=\d)")


def find_ungrounded(
    sentences: Sequence[str], readings: Sequence[Reading], *, questions: Sequence[Probe]
) -> list[str]:
    """The answer's numbers and names, as written, that neither a context nor the question holds; at most 20.

    A name is a word with a capital after its first letter, or with one at its beginning that the sentence
    does not explain: it does not begin it, it is all of it, or another word with a capital follows at once.

    Args:
        sentences: of the answer.
        readings: of the contexts.
        questions: what was asked.
    """
    held = [*(reading.words for reading in readings), *(question.weights.keys() for question in questions)]
    held.extend(question.numbers for question in questions)
    plain_texts: list[str] = []
    terms: dict[str, None] = {}
    for term in islice(_list_terms(sentences), _MOST_CANDIDATES):
        if len(terms) == _MOST_TERMS:
            break
        tokens = tokenize(normalize(term))
        if all(is_stop(token, language=None) or any(token in words for words in held) for token in tokens):
            continue
        if term[0].isdigit():
            plain_texts = plain_texts or [_GROUPING.sub("", reading.text) for reading in readings]
            if any(_GROUPING.sub("", term) in text for text in plain_texts):
                continue
        terms[term] = None
    return list(terms)


def _list_terms(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        matches = list(islice(_TERM.finditer(sentence), _MOST_CANDIDATES))
        for place, match in enumerate(matches):
            term = match.group()
            is_named = place > 0 or len(matches) == 1 or _leads_name(matches[0], matches[1], sentence)
            has_inner_capital = term[1:] != term[1:].lower()
            if term[0].isdigit() or has_inner_capital or (is_named and len(term) > 1 and term[0].isupper()):
                yield term


def _leads_name(first: re.Match[str], second: re.Match[str], sentence: str) -> bool:
    return sentence[first.end() : second.start()] == " " and second.group()[0].isupper()
