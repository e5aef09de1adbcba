"""Messages, reply and searches of a call that LiteLLM logged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.documents import Document, read_name, read_score
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.messages import read_turns
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

_REDACTED = "redacted-by-litellm"
"""Stands for every text where the operator turned message logging off."""


class Search(NamedTuple):
    """What one vector store was asked and found; None = its response was not logged."""

    query: str | None
    documents: tuple[Document, ...] | None


def read_turns_given(messages: object) -> tuple[Turn, ...]:
    """The messages that a model was given; a plain prompt is a user's. Redacted ones are none."""
    if isinstance(messages, str):
        turns: tuple[Turn, ...] = read_turns(messages) or (Turn(role="user", content=messages),)
    else:
        turns = read_turns(messages)
    return tuple(turn for turn in turns if turn.content.strip() and turn.content != _REDACTED)


def find_question(messages: object, turns: Sequence[Turn]) -> str | None:
    """What the last user message asks, else what stands under a question's name; None if redacted."""
    asked = next((turn.content for turn in reversed(turns) if turn.role == "user"), None) or read_question(
        messages
    )
    return None if asked == _REDACTED else asked


def read_response(response: object) -> str | None:
    """The text of the first choice; "" where it calls a tool, None where there is none or it was redacted."""
    choices = list_objects(look_up(response, "choices"))
    if choices:
        message = next((choices[0][key] for key in ("message", "delta") if choices[0].get(key)), None)
        text = choices[0].get("text")
        if look_up(message, "tool_calls") or look_up(message, "function_call"):
            return ""
        content = look_up(message, "content")
        plain = next((value for value in (text, content) if isinstance(value, str)), None)
        answer = read_answer(message) if plain is None else plain
    else:
        answer = response if isinstance(response, str) else read_answer(response)
    return None if answer is None or answer == _REDACTED else answer


def read_searches(fields: dict[str, Any]) -> list[Search]:
    """The searches of the proxy's vector stores, in order, from the metadata, else from the reply."""
    requests = list_objects(look_up(fields, "metadata", "vector_store_request_metadata"))
    if requests:
        return [
            _read_search(item.get("vector_store_search_response"), query=item.get("query"))
            for item in requests
        ]
    choices = list_objects(look_up(fields, "response", "choices"))
    message = choices[0].get("message") if choices else None
    results = list_objects(look_up(message, "provider_specific_fields", "search_results"))
    return [_read_search(item, query=None) for item in results]


def _read_search(response: object, *, query: object) -> Search:
    data = look_up(response, "data")
    asked = next(
        (
            text
            for text in (query, look_up(response, "search_query"))
            if isinstance(text, str) and text.strip()
        ),
        None,
    )
    documents = tuple(map(_read_result, list_objects(data))) if isinstance(data, list) else None
    return Search(asked, documents)


def _read_result(item: dict[str, Any]) -> Document:
    content = item.get("content")
    texts = [part["text"] for part in list_objects(content) if isinstance(part.get("text"), str)]
    attributes = item.get("attributes")
    metadata = dict(attributes) if isinstance(attributes, dict) else {}
    if isinstance(item.get("filename"), str):
        metadata["filename"] = item["filename"]
    return Document(
        content=content if isinstance(content, str) else "\n".join(texts) if texts else None,
        id=read_name(item.get("file_id")) or read_name(item.get("id")),
        score=read_score(item.get("score")),
        metadata=metadata or None,
    )
