"""Lists of objects that were flattened into attributes: `retrieval.documents.0.document.content`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_INDEX_DIGITS = 9


def read_flattened(attributes: Mapping[str, Any], *, prefix: str) -> list[dict[str, Any]]:
    """The objects under `prefix`, by index; gaps between indices are closed, so a huge index costs nothing.

    `retrieval.documents.0.document.id` under `retrieval.documents` is `document.id` of the first object.
    """
    start = f"{prefix}."
    items: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(start):
            index, _, name = key[len(start) :].partition(".")
            if name and index.isascii() and index.isdigit() and len(index) <= _INDEX_DIGITS:
                items.setdefault(int(index), {})[name] = value
    return [items[index] for index in sorted(items)]
