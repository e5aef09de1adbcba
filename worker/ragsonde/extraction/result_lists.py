"""Where the list of documents stands in what a search returned, as libraries and databases shape it."""

from __future__ import annotations

from typing import Any, TypeGuard

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
_GENERAL_KEYS = ("points", "objects", "retrievalResults", "data")
"""Keys that mean a list of documents only in an object without a text, and if it lists objects or texts."""
_AROUND_KEYS = ("hits", "data", "result")
"""Keys of an object around the list, or around the object that has it (Elasticsearch's `hits.hits`)."""
_LEVELS = 2
_PAIR = 2


def find_list(value: dict[str, Any], *, is_document: bool) -> list[Any] | None:
    """The list of documents in an object, None where it has none.

    Args:
        value: the object.
        is_document: it has a text of its own, so that what it lists under a general key is a part of it.
    """
    return _find_list(value, is_document=is_document, levels=_LEVELS)


def flatten_queries(items: list[Any]) -> list[Any]:
    """The items of a list; of one that holds a list for each query the items of those, in their order."""
    lists = [item for item in items if isinstance(item, list)]
    if not lists or len(lists) < len(items):
        return items
    inner = [item for listed in lists for item in listed]
    is_single = all(len(listed) <= 1 for listed in lists)
    are_documents = all(isinstance(item, dict) or is_scored(item) for item in inner)
    return inner if are_documents or (is_single and all(isinstance(item, str) for item in inner)) else items


def is_scored(item: object) -> TypeGuard[list[Any]]:
    """True for a pair of a document and its score: of an object, or of a text and a number from 0 to 1."""
    if not isinstance(item, list) or len(item) != _PAIR:
        return False
    document, score = item
    if isinstance(score, bool) or not isinstance(score, int | float):
        return False
    return isinstance(document, dict) or (
        isinstance(document, str) and isinstance(score, float) and 0 <= score <= 1
    )


def _find_list(value: dict[str, Any], *, is_document: bool, levels: int) -> list[Any] | None:
    for key in _LIST_KEYS:
        if isinstance(value.get(key), list):
            return list(value[key])
    if is_document or not levels:
        return None
    for key in _GENERAL_KEYS:
        items = value.get(key)
        if isinstance(items, list) and all(isinstance(item, dict | list | str) for item in items):
            return items
    for key in _AROUND_KEYS:
        inner = value.get(key)
        listed = _find_list(inner, is_document=False, levels=levels - 1) if isinstance(inner, dict) else None
        if listed is not None:
            return listed
    return None
