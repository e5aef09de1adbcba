"""Answers as applications give them, made of a person's short answer.

Labelled answers are names and numbers; applications answer in sentences that repeat the question and use
some of the context's words. Without such forms the heads would learn to wait for an answer that is found
letter by letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labelled_rows import LabelledRow

_SHORTEST_WORDS = 5
_RESTATED_SHARE = 0.5
_RETOLD_SHARE = 0.99


def list_forms(row: LabelledRow) -> list[tuple[str, float]]:
    """The answer as given first, then its long forms, with what each counts; empty without an answer."""
    if not row.expected:
        return []
    forms = [(row.expected, 1.0)]
    if row.source.startswith("xquad"):
        forms.append((restate(row), _RESTATED_SHARE))
        told = retell(row)
        if told:
            forms.append((told, _RETOLD_SHARE))
    return forms


def restate(row: LabelledRow) -> str:
    """The question, then the answer."""
    return f"{row.query} {row.expected}"


def retell(row: LabelledRow) -> str | None:
    """Every second word of the sentence that holds the answer."""
    for context in row.contexts:
        for sentence, is_evidence in zip(context.sentences, context.is_evidence, strict=True):
            if context.is_relevant and is_evidence:
                words = sentence.split()
                return " ".join(words[::2]) if len(words) >= _SHORTEST_WORDS else sentence
    return None
