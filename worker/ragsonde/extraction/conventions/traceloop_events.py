"""What a vector database's query returned, as Traceloop's instrumentations record it: an event a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_values import read_object
from ragsonde.extraction.documents import Document, read_document

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

_ASKED = frozenset({"db.query.embeddings", "db.search.embeddings"})
_RESULTS = frozenset({"db.query.result", "db.search.result"})
_TEXT_KEYS = ("content", "text", "page_content", "document", "chunk")


def has_results(span: Span) -> bool:
    """True for a span that records what a vector database was asked or returned."""
    return any(event.name in _RESULTS or event.name in _ASKED for event in span.events)


def read_results(span: Span) -> tuple[Document, ...] | None:
    """The documents that a query returned, in order; () = none; None where it failed."""
    results = [event for event in span.events if event.name in _RESULTS]
    if not results and span.is_error:
        return None
    return tuple(_read_result(event.attributes, prefix=event.name) for event in results)


def _read_result(attributes: dict[str, Any], *, prefix: str) -> Document:
    """One document; where its text is not recorded, that in its metadata. A distance is no score."""
    metadata = read_object(attributes.get(f"{prefix}.metadata")) or read_object(
        attributes.get(f"{prefix}.entity")
    )
    texts = [attributes.get(f"{prefix}.document"), *(metadata.get(key) for key in _TEXT_KEYS)]
    distance = attributes.get(f"{prefix}.distance")
    return read_document(
        {
            "content": next((text for text in texts if isinstance(text, str)), None),
            "id": attributes.get(f"{prefix}.id"),
            "score": attributes.get(f"{prefix}.score"),
            "metadata": metadata if distance is None else {**metadata, "distance": distance},
        }
    )
