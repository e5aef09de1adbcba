"""What Haystack's generators and answer builders deliver, as the library's versions serialise it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ragsonde.extraction.conventions.recorded_facts import read_usage
from ragsonde.extraction.documents import read_name
from ragsonde.extraction.foreign.places import list_objects, look_up

_CALLS = ("tool_call", "_tool_call", "tool_calls")


class Reply(NamedTuple):
    """One reply or built answer.

    Attributes:
        text: "" where it calls a tool instead of answering; None where it holds no text.
        query, documents: only of a built answer.
    """

    text: str | None = None
    model: str | None = None
    usage: dict[str, int] | None = None
    query: str | None = None
    documents: object = None


def read_reply(outputs: dict[str, Any]) -> Reply:
    """The first reply of a generator: a string, or a chat message of any version.

    A string generator puts model and usage beside its replies, in a list `meta`.
    """
    replies = outputs["replies"]
    first = replies[0] if replies else None
    metas = list_objects(outputs.get("meta"))
    meta = _find_meta(first) or (metas[0] if metas else {})
    usage = meta.get("usage")
    return Reply(
        text=_read_message(first),
        model=read_name(meta.get("model")),
        usage=read_usage(usage) if isinstance(usage, dict) else None,
    )


def read_generated(outputs: dict[str, Any]) -> Reply | None:
    """The first of an answer builder's answers; None where it built none."""
    answers = list_objects(outputs.get("answers"))
    if not answers:
        return None
    parameters = answers[0].get("init_parameters")
    answer = parameters if isinstance(parameters, dict) else answers[0]
    text, query = answer.get("data"), answer.get("query")
    documents = answer.get("documents")
    return Reply(
        text=text if isinstance(text, str) and text.strip() else None,
        query=query if isinstance(query, str) and query.strip() else None,
        documents=[_unwrap(item) for item in documents] if isinstance(documents, list) else None,
    )


def _find_meta(message: object) -> dict[str, Any]:
    for key in ("meta", "_meta"):
        meta = look_up(message, key)
        if isinstance(meta, dict):
            return meta
    return {}


def _read_message(message: object) -> str | None:
    if isinstance(message, str):
        return message
    if not isinstance(message, dict):
        return None
    for key in ("content", "_content", "text"):
        content = message.get(key)
        if isinstance(content, str):
            return content
        parts = list_objects(content)
        if parts:
            texts = [text for part in parts if isinstance(text := part.get("text"), str)]
            is_call = any(call in part for part in parts for call in _CALLS)
            return "" if is_call else "\n".join(texts) if texts else None
    return None


def _unwrap(item: object) -> object:
    parameters = look_up(item, "init_parameters")
    return parameters if isinstance(parameters, dict) else item
