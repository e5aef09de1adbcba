"""Mastra's messages: format 1 has parts and text at the top, format 2 inside `content`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_texts import read_question
from ragsonde.extraction.documents import Document, read_documents, read_name, read_score
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.messages import read_role
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESULT_KEYS = ("result", "output")
_TOOL_TYPES = ("tool-", "dynamic-tool")
_ANSWERLESS = ("updateworkingmemory", "update-working-memory")
"""The agent's own notebook: neither a retrieval nor the end of an answer."""

_TEXT_KEYS = ("text", "content", "chunk")


class Part(NamedTuple):
    """A piece of what an agent put out, in order.

    Attributes:
        kind: `text`, `tool`, or `start` where another call of the model begins.
        text: of a text.
        documents: what the tool delivered; None where it has not.
        name: of the tool.
        question: what the tool was asked for, where it is a text.
    """

    kind: str
    text: str = ""
    documents: tuple[Document, ...] | None = None
    name: str = ""
    question: str | None = None


def read_parts(message: dict[str, Any]) -> list[Part]:
    """The parts of one message. Calls beside them are the same: read only where the parts have none."""
    content = message.get("content")
    listed = next(
        (
            parts
            for parts in (message.get("parts"), look_up(content, "parts"), content)
            if isinstance(parts, list) and parts
        ),
        [],
    )
    parts = [part for item in listed if (part := _read_part(item)) is not None]
    if not any(part.kind == "text" for part in parts):
        texts = (content, look_up(content, "content"), message.get("text"))
        text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
        parts += [Part("text", text)] if text is not None else []
    if not any(part.kind == "tool" for part in parts):
        calls = message.get("toolInvocations", look_up(content, "toolInvocations"))
        invocations = (_read_invocation(call) for call in list_objects(calls))
        parts = [*(part for part in invocations if part is not None), *parts]
    return parts


def read_message_text(message: dict[str, Any]) -> str:
    """The texts of a message, joined by line ends; '' where it has none."""
    return "\n".join(part.text for part in read_parts(message) if part.kind == "text")


def read_mastra_turns(*lists: object) -> tuple[Turn, ...]:
    """The turns of lists of messages, those without a text left out."""
    turns = (
        Turn(role=read_role(role), content=read_message_text(message))
        for messages in lists
        for message in list_objects(messages)
        if isinstance(role := message.get("role"), str)
    )
    return tuple(turn for turn in turns if turn.content.strip())


def _read_part(item: object) -> Part | None:
    if isinstance(item, str):
        return Part("text", item) if item.strip() else None
    kind = look_up(item, "type")
    if not isinstance(item, dict) or not isinstance(kind, str):
        return None
    if kind == "text":
        text = item.get("text")
        return Part("text", text) if isinstance(text, str) and text.strip() else None
    if kind == "step-start":
        return Part("start")
    if kind == "tool-invocation":
        return _read_invocation(item.get("toolInvocation"))
    return _read_invocation(item, kind=kind) if kind.startswith(_TOOL_TYPES) else None


def _read_invocation(call: object, *, kind: str = "") -> Part | None:
    """A call of a tool; the AI SDK's fifth version names the tool in the part's type."""
    if not isinstance(call, dict):
        return None
    name = call.get("toolName")
    name = name if isinstance(name, str) else kind.removeprefix("tool-")
    if name.lower() in _ANSWERLESS:
        return None
    state = call.get("state")
    is_done = not isinstance(state, str) or state in {"result", "output-available"}
    results = [call[key] for key in _RESULT_KEYS if is_done and call.get(key) is not None]
    asked = read_question(next((call[key] for key in ("args", "input") if call.get(key)), None))
    return Part(
        "tool",
        documents=_read_result(results[0]) if results else None,
        name=name,
        question=asked,
    )


def _read_result(result: object) -> tuple[Document, ...] | None:
    """What a tool delivered; Mastra's own vector query tool has `relevantContext` and its `sources`."""
    if isinstance(result, dict) and result.keys() == {"type", "value"}:
        result = result["value"]
    value = read_embedded(result) if isinstance(result, str) else result
    if not isinstance(value, dict | list):
        return read_returned(result)
    relevant = look_up(value, "relevantContext")
    sources = look_up(value, "sources")
    if isinstance(sources, list) and (sources or relevant is not None):
        texts = (
            relevant
            if isinstance(relevant, list) and len(relevant) == len(sources)
            else [None] * len(sources)
        )
        return tuple(_read_source(source, text) for source, text in zip(sources, texts, strict=True))
    if relevant is not None:
        return (
            tuple(read_documents(relevant) or ()) if isinstance(relevant, list) else read_returned(relevant)
        )
    return read_returned(value)


def _read_source(source: object, relevant: object) -> Document:
    metadata = look_up(source, "metadata")
    places = (relevant, look_up(source, "document"), metadata, source)
    return Document(
        content=next((text for place in places if (text := _read_text(place)) is not None), None),
        id=read_name(look_up(source, "id")),
        score=read_score(look_up(source, "score")),
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def _read_text(place: object) -> str | None:
    if isinstance(place, str):
        return place if place.strip() else None
    texts = (look_up(place, key) for key in _TEXT_KEYS)
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)


def iterate_parts(output: object) -> Iterator[Part]:
    """The parts of all that an agent put out: of messages of the assistant and of its tools."""
    messages = output if isinstance(output, list) else look_up(output, "messages") or [output]
    for message in list_objects(messages):
        role = message.get("role")
        if not isinstance(role, str) or read_role(role) in {"assistant", "tool"}:
            yield from read_parts(message)
