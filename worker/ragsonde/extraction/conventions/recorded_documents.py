"""The documents in what a retriever, a reranker or a tool was recorded to return."""

from __future__ import annotations

from typing import Any

from ragsonde.extraction.conventions.recorded_values import read_value
from ragsonde.extraction.documents import Document, read_document
from ragsonde.extraction.messages import read_tool_output

_COLUMNS = {"documents": "content", "ids": "id", "metadatas": "metadata"}


def read_returned(recorded: object) -> tuple[Document, ...] | None:
    """The documents in what a step returned; () = it returned that there are none, None = nothing recorded.

    A list's items, what an object lists under a key that libraries use, the contents of tool messages, a
    vector database's columns; any other text or object is one document.
    """
    value = read_value(recorded)
    if value is None:
        return None
    columns = _read_columns(value)
    return read_tool_output(value) if columns is None else columns


def _read_columns(value: object) -> tuple[Document, ...] | None:
    """Documents as columns, one list a query, as Chroma returns them; its distances are no scores."""
    if not isinstance(value, dict) or not isinstance(value.get("ids"), list):
        return None
    columns = {name: _flatten(value.get(key)) for key, name in _COLUMNS.items()}
    if not isinstance(value.get("documents"), list) or len(columns["content"]) != len(columns["id"]):
        return None
    names = [name for name in columns if len(columns[name]) == len(columns["id"])]
    rows = zip(*(columns[name] for name in names), strict=True)
    return tuple(read_document(dict(zip(names, row, strict=True))) for row in rows)


def _flatten(column: object) -> list[Any]:
    items = column if isinstance(column, list) else []
    return [inner for item in items for inner in (item if isinstance(item, list) else [item])]
