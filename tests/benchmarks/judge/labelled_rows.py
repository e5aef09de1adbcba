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
    from collections.abc import Iterator
    from pathlib import Path

_SHAPE = (
    '{"query": "...", "source": "...", "id": "...", "expected": "a person\'s answer, or empty", '
    '"contexts": [{"text": "...", "relevant": true or false}, ...]} (or "used" in place of "relevant")'
)

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
    def tells_use(self) -> bool:
        """Its contexts are labelled by whether the answer rests on them, not by relevance."""
        return any(context.is_used is not None for context in self.contexts)

    @property
    def given_answer(self) -> str:
        """A person's answer where there is one, else the application's."""
        return self.expected or self.answer

    @property
    def family(self) -> str:
        """The source; all translations of one corpus together."""
        is_translation = self.source.startswith("xquad_") and self.source != "xquad_en"
        return "xquad_other" if is_translation else self.source


class WrongDataError(ValueError):
    """A file does not hold labelled rows; the message says where and what was expected."""


def read_rows(paths: list[Path]) -> list[LabelledRow]:
    """All rows with a context, in the order of the files; WrongDataError for anything else."""
    rows = [row for path in paths for row in _read_file(path)]
    if not rows:
        names = ", ".join(map(str, paths))
        raise WrongDataError(f"{names}: no row with a context; expected one JSON object a line, {_SHAPE}")
    return rows


def _read_file(path: Path) -> Iterator[LabelledRow]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongDataError(f"{path} cannot be read: {error}; expected a file of labelled rows") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            row = _read_row(document) if document["contexts"] else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            found = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise WrongDataError(f"{path}, line {number}: {found}; expected {_SHAPE}") from error
        if row is not None:
            yield row


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
    label = document["used"] if "used" in document else document["relevant"]
    if not isinstance(label, bool) or not isinstance(document["text"], str):
        raise TypeError(f"a context with the text {document['text']!r:.40} and the label {label!r:.40}")
    if "sentences" in document:
        told = [(text, place in document["support"]) for place, text in enumerate(document["sentences"])]
        labelled = [(f"{document['title']}.", None), *((text, label) for text, label in told if text.strip())]
    else:
        labelled = _label_by_answer(document)
    return LabelledContext(
        text=document["text"],
        is_relevant=bool(document.get("relevant", label)),
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
