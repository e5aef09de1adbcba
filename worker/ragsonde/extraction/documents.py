"""One rule for a document in any list, whichever library wrote it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.embedded_json import read_embedded, read_plain
from ragsonde.extraction.failures import is_failure
from ragsonde.extraction.message_parts import join_texts
from ragsonde.extraction.result_lists import find_list, flatten_queries, is_scored

if TYPE_CHECKING:
    from collections.abc import Iterable

_OWN_TEXT_KEYS = ("content", "text", "page_content", "pageContent")
_WRAPPERS = ("document", "payload", "_source", "entity", "properties")
"""Around the document beside its score, as rerankers and databases (Qdrant, Elasticsearch) return it."""
_TEXT_KEYS = (
    *_OWN_TEXT_KEYS,
    "node.text",
    "kwargs.page_content",
    *(f"{wrapper}.{key}" for wrapper in _WRAPPERS for key in _OWN_TEXT_KEYS),
    *(f"metadata.{key}" for key in _OWN_TEXT_KEYS),
)
"""The last ones are those of vectors that carry their text among what describes them (Pinecone)."""
_ID_KEYS = ("id", "id_", "_id", "node.id_", "kwargs.id", "document.id")
_SCORE_KEYS = (
    "score",
    "relevance_score",
    "relevanceScore",
    "_score",
    "metadata.score",
    "kwargs.metadata.score",
    "document.score",
)
_METADATA_KEYS = (
    "metadata",
    "meta",
    "node.metadata",
    "kwargs.metadata",
    "document.metadata",
    "document.meta",
    "payload.metadata",
    "_source.metadata",
)
_NAMING_KEYS = frozenset({"id", "id_", "_id", "score", "_score", "relevance_score", "relevanceScore"})
_ABOUT_KEYS = frozenset({"metadata", "meta"})


class Document(NamedTuple):
    """One document of a list.

    Attributes:
        content: None where only an id or a score is given.
    """

    content: str | None
    id: str | None = None
    score: float | None = None
    metadata: dict[str, Any] | None = None


class NullItem(Document):
    """What a list holds in a document's place where it holds `null` there: no document, only told."""

    __slots__ = ()


def read_document(item: object) -> Document:
    """The document that an item of a list is.

    A string is its text, unless it holds a JSON object, which is then read. Of an object: the first text that
    is not blank, id and score found under the keys that libraries use; text parts are joined. One with an id
    or a score only, or whose text is null, has no text; any other object's text is its JSON.
    """
    if isinstance(item, str):
        embedded = read_embedded(item)
        if not isinstance(embedded, dict):
            return Document(content=item if embedded is not None else read_plain(item) or item)
        item = embedded
    if item is None:
        return NullItem(content=None)
    if not isinstance(item, dict):
        return Document(content=_to_json(item))
    content = _find_text(item)
    return Document(
        content=_to_json(item) if content is None and not _is_without_text(item) else content,
        id=next((name for value in _values(item, _ID_KEYS) if (name := read_name(value)) is not None), None),
        score=read_first_score(_values(item, _SCORE_KEYS)),
        metadata=next((value for value in _values(item, _METADATA_KEYS) if isinstance(value, dict)), None),
    )


def read_documents(value: object) -> list[Document] | None:
    """The documents of a JSON value: a list, or an object with one (`documents`, `results`); else None.

    An item `null` is a `NullItem`; one that is a pair of a document and its score is that document.
    """
    if isinstance(value, dict):
        value = find_list(value, is_document=_find_text(value) is not None)
    return None if not isinstance(value, list) else [_read_item(item) for item in flatten_queries(value)]


def read_delivered(value: object) -> tuple[Document, ...] | None:
    """The documents of what a tool returned: those of a list, in JSON too, else the value as one text.

    None where nothing was recorded: null, a blank text, the text `null`, an object of nothing but nulls, or
    that the tool failed.
    """
    if isinstance(value, str):
        embedded = read_embedded(value)
        if embedded is None:
            text = read_plain(value)
            return None if text is None else (Document(text),)
        value = embedded
    is_empty = isinstance(value, dict) and value and not any(map(_is_given, value.values()))
    if value is None or is_empty or is_failure(value):
        return None
    documents = read_documents(value)
    return (read_document(value),) if documents is None else tuple(documents)


def unite_delivered(delivered: Iterable[tuple[Document, ...] | None]) -> tuple[Document, ...] | None:
    """What several returned, in their order; None where none of them recorded anything."""
    known = [documents for documents in delivered if documents is not None]
    return tuple(document for documents in known for document in documents) if known else None


def omit_nulls(documents: tuple[Document, ...] | None) -> tuple[Document, ...] | None:
    """The documents without what is none; None where nothing else was recorded."""
    kept = tuple(document for document in documents or () if not isinstance(document, NullItem))
    return None if documents and not kept else documents and kept


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


def _read_item(item: object) -> Document:
    if not is_scored(item):
        return read_document(item)
    document = read_document(item[0])
    return document if document.score is not None else document._replace(score=read_score(item[1]))


def _find_text(item: dict[str, Any]) -> str | None:
    """The first text that is not blank, else a blank one, else None."""
    found = (join_texts(value) if isinstance(value, list) else value for value in _values(item, _TEXT_KEYS))
    texts = [text for text in found if isinstance(text, str)]
    return next((text for text in texts if text.strip()), texts[0] if texts else None)


def _is_without_text(item: dict[str, Any]) -> bool:
    """True where an object says which document it is, or that there is no text, and no more than that."""
    given = {key for key, value in item.items() if _is_given(value)}
    is_null = any(key in item for key in _OWN_TEXT_KEYS) or (item and not given)
    return given <= _NAMING_KEYS | _ABOUT_KEYS and (bool(is_null) or not given.isdisjoint(_NAMING_KEYS))


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


def _is_given(value: object) -> bool:
    return value is not None


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
