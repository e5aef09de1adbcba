"""One rule for a document in any list, whichever library wrote it."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from ragsonde.extraction.embedded_json import read_embedded

_TEXT_KEYS = ("content", "text", "page_content", "pageContent", "node.text", "kwargs.page_content")
_ID_KEYS = ("id", "id_", "node.id_", "kwargs.id")
_SCORE_KEYS = ("score", "relevance_score", "relevanceScore", "metadata.score", "kwargs.metadata.score")
_METADATA_KEYS = ("metadata", "meta", "node.metadata", "kwargs.metadata")
_NOT_TEXT_KEYS = frozenset({"id", "id_", "score", "relevance_score", "relevanceScore", "metadata", "meta"})
_LIST_KEYS = (
    "documents",
    "source_documents",
    "results",
    "chunks",
    "contexts",
    "source_nodes",
    "nodes",
    "matches",
    "hits",
)


class Document(NamedTuple):
    """One document of a list.

    Attributes:
        content: None where only an id or a score is given.
    """

    content: str | None
    id: str | None = None
    score: float | None = None
    metadata: dict[str, Any] | None = None


def read_document(item: object) -> Document:
    """The document that an item of a list is.

    A string is its text, unless it holds a JSON object, which is then read. Of an object: the first text, id
    and score found under the keys that libraries use; one with an id or a score only has no text; any other
    object's text is its JSON.
    """
    if isinstance(item, str):
        embedded = read_embedded(item)
        if not isinstance(embedded, dict):
            return Document(content=item)
        item = embedded
    if not isinstance(item, dict):
        return Document(content=_to_json(item))
    content = next((value for value in _values(item, _TEXT_KEYS) if isinstance(value, str)), None)
    given = {key for key, value in item.items() if value is not None}
    if content is None and not (item and given <= _NOT_TEXT_KEYS):
        content = _to_json(item)
    return Document(
        content=content,
        id=next((name for value in _values(item, _ID_KEYS) if (name := read_name(value)) is not None), None),
        score=read_first_score(_values(item, _SCORE_KEYS)),
        metadata=next((value for value in _values(item, _METADATA_KEYS) if isinstance(value, dict)), None),
    )


def read_documents(value: object) -> list[Document] | None:
    """The documents of a JSON value: a list, or an object with one (`documents`, `results`); else None."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
    return [read_document(item) for item in value] if isinstance(value, list) else None


def read_delivered(value: object) -> tuple[Document, ...]:
    """The documents of what a tool returned: those of a list, in JSON too, else the value as one text.

    Nothing (None, a blank text) is no document.
    """
    if isinstance(value, str):
        embedded = read_embedded(value)
        if embedded is None:
            return (Document(value),) if value.strip() else ()
        value = embedded
    if value is None:
        return ()
    documents = read_documents(value)
    return (read_document(value),) if documents is None else tuple(documents)


def read_score(value: object) -> float | None:
    """A finite number, also one written as a string, else None. A boolean is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def read_first_score(values: list[Any]) -> float | None:
    """The first of `values` that is a score, else None."""
    return next((score for value in values if (score := read_score(value)) is not None), None)


def read_name(value: object) -> str | None:
    """An id as a string, whole numbers too; None for blank or anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def _values(item: dict[str, Any], keys: tuple[str, ...]) -> list[Any]:
    """What stands under those of `keys` (dots lead into objects) that exist."""
    found: list[Any] = []
    for key in keys:
        value: Any = item
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            found.append(value)
    return found


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
