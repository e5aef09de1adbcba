"""Labelled questions and contexts: one JSON object a line.

`{query, expected, answer, source, lang, unit, id, group?, contexts: [{text, relevant, level?, answer_start?,
title?, sentences?, support?, used?}]}`: `expected` is a person's answer, `support` holds the places of the
sentences that the answer rests on, `group` names rows that must not be split between folds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.sentences import split_sentences
from ragsonde.judging.lexical.reading import Reading, read_sentences

if TYPE_CHECKING:
    from pathlib import Path

PERMITTED = ("xquad", "hotpot")
"""Sources whose licence (CC BY-SA 4.0) lets numbers fitted on them be handed on."""


@dataclass(frozen=True)
class LabelledContext:
    text: str
    is_relevant: bool
    is_used: bool | None
    level: str | None
    sentences: tuple[str, ...]
    is_evidence: tuple[bool | None, ...]
    """per sentence: the answer rests on it; None = not told"""

    @cached_property
    def reading(self) -> Reading:
        return read_sentences(self.sentences)


@dataclass(frozen=True)
class LabelledRow:
    query: str
    expected: str
    answer: str
    source: str
    group: str
    contexts: tuple[LabelledContext, ...]

    @property
    def is_permitted(self) -> bool:
        return self.source.startswith(PERMITTED)

    @property
    def family(self) -> str:
        """The source; all translations of one corpus together."""
        is_translation = self.source.startswith("xquad_") and self.source != "xquad_en"
        return "xquad_other" if is_translation else self.source


def read_rows(paths: list[Path]) -> list[LabelledRow]:
    """All rows with a context, in the order of the files."""
    documents = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [_read_row(document) for document in documents if document["contexts"]]


def _read_row(document: dict[str, Any]) -> LabelledRow:
    return LabelledRow(
        query=document["query"],
        expected=document.get("expected") or "",
        answer=document.get("answer") or "",
        source=document["source"],
        group=document.get("group") or document["id"],
        contexts=tuple(_read_context(context) for context in document["contexts"]),
    )


def _read_context(document: dict[str, Any]) -> LabelledContext:
    if "sentences" in document:
        told = [(text, place in document["support"]) for place, text in enumerate(document["sentences"])]
        labelled = [(f"{document['title']}.", None), *((text, label) for text, label in told if text.strip())]
    else:
        labelled = _label_by_answer(document)
    return LabelledContext(
        text=document["text"],
        is_relevant=bool(document.get("relevant", document.get("used"))),
        is_used=document.get("used"),
        level=document.get("level"),
        sentences=tuple(text for text, _ in labelled),
        is_evidence=tuple(label for _, label in labelled),
    )


def _label_by_answer(document: dict[str, Any]) -> list[tuple[str, bool | None]]:
    """The sentence in which the answer begins is the evidence; nothing is told where no place is given."""
    sentences = split_sentences(document["text"])
    if "answer_start" not in document or not document["relevant"]:
        is_told = "level" in document and not document["relevant"]
        return [(text, False if is_told else None) for text in sentences]
    before = len("".join(document["text"][: document["answer_start"]].split()))
    labelled: list[tuple[str, bool | None]] = []
    for text in sentences:
        length = len("".join(text.split()))
        labelled.append((text, 0 <= before < length))
        before -= length
    return labelled
