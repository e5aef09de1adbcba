"""Reading single OpenInference spans: kind, texts, messages, documents, names.

Attribute names are those of the OpenInference semantic conventions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_texts import is_representation, keep_plain
from ragsonde.extraction.documents import Document, read_document, read_documents
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.embedded_json import read_plain as read_json_text
from ragsonde.extraction.flattened import read_flattened
from ragsonde.extraction.messages import Message, read_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.span import Span

KIND = "openinference.span.kind"
RETRIEVED = "retrieval.documents"
RERANKED = "reranker.output_documents"
INPUT_MESSAGES = "llm.input_messages"
OUTPUT_MESSAGES = "llm.output_messages"

_TOOL_CALLS = ("message.tool_calls.", "message.function_call_")


def read_text(span: Span, name: str) -> str | None:
    """The attribute where it is a text with anything in it, else None."""
    value = span.attributes.get(name)
    return value if isinstance(value, str) and value.strip() else None


def read_json(span: Span, name: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that the attribute holds as JSON, else None."""
    value = span.attributes.get(name)
    if isinstance(value, dict | list):
        return value
    return read_embedded(value) if isinstance(value, str) else None


def read_plain(span: Span, side: str) -> str | None:
    """The text of `input` or `output`; None for an object or list, for `null`, and for what says nothing.

    A JSON string is the text that it holds where the span says that it is JSON; else its quotes are its own.
    """
    recorded = read_text(span, f"{side}.value")
    if recorded is None or read_embedded(recorded) is not None:
        return None
    text = read_json_text(recorded)
    if text is None:
        return None
    is_json = "json" in str(span.attributes.get(f"{side}.mime_type", "")).lower()
    return keep_plain(text if is_json else recorded)


def read_messages(span: Span, *, prefix: str) -> list[Message]:
    """The messages of a model call, tool results as texts; several parts are joined by line ends."""
    return [_read_message(message) for message in read_flattened(span.attributes, prefix=prefix)]


def read_said(messages: Sequence[Message]) -> str | None:
    """The first text of a reply, "" where it ends in a call of a tool, None where it says nothing."""
    if messages and messages[-1].calls_tool:
        return ""
    return next((message.text for message in messages if message.text is not None), None)


def read_span_documents(span: Span, *, prefix: str) -> list[Document] | None:
    """The documents a span delivered, None where it recorded none, [] where it recorded that there were none.

    What the flattened attributes lack (LangChain's instrumentation leaves id and score out) is taken from the
    output where that lists the same documents in the same order.
    """
    flattened = [_read_flattened_document(item) for item in read_flattened(span.attributes, prefix=prefix)]
    listed = read_documents(read_json(span, "output.value"))
    if not flattened:
        if listed and any(is_representation(document.content or "") for document in listed):
            return None
        return listed
    if listed is None or not _are_same(flattened, listed):
        return flattened
    return [_fill(document, other) for document, other in zip(flattened, listed, strict=True)]


def _read_message(message: dict[str, Any]) -> Message:
    content = message.get("message.content")
    if not isinstance(content, str) or not content.strip():
        parts = [
            part.get("message_content.text") for part in read_flattened(message, prefix="message.contents")
        ]
        content = "\n".join(part for part in parts if isinstance(part, str) and part.strip()) or None
    role = message.get("message.role")
    calls_tool = any(name.startswith(_TOOL_CALLS) for name in message)
    return Message(read_role(role) if isinstance(role, str) else "", content, calls_tool=calls_tool)


def _read_flattened_document(item: dict[str, Any]) -> Document:
    metadata = item.get("document.metadata")
    if isinstance(metadata, str):
        metadata = read_embedded(metadata)
    return read_document(
        {
            "content": item.get("document.content"),
            "id": item.get("document.id"),
            "score": item.get("document.score"),
            "metadata": metadata,
        }
    )


def _are_same(documents: list[Document], others: list[Document]) -> bool:
    return len(documents) == len(others) and all(
        document.content is None or document.content == other.content
        for document, other in zip(documents, others, strict=True)
    )


def _fill(document: Document, other: Document) -> Document:
    return Document(
        content=document.content if document.content is not None else other.content,
        id=document.id if document.id is not None else other.id,
        score=document.score if document.score is not None else other.score,
        metadata=document.metadata or other.metadata,
    )
