"""Messages that older GenAI emitters recorded as events of the span."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.messages import read_reply, read_role, read_turns
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.span import SpanEvent

_MESSAGE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_CHOICE = "gen_ai.choice"
_PROMPT_EVENT = "gen_ai.content.prompt"
_COMPLETION_EVENT = "gen_ai.content.completion"
_PROMPT = "gen_ai.prompt"
_COMPLETION = "gen_ai.completion"
_BODY = "gen_ai.event.content"
_ROLE_AT_START = re.compile(r"^(system|developer|user|human|assistant|ai|tool): ", re.MULTILINE)


def read_asked_events(events: Sequence[SpanEvent]) -> tuple[Turn, ...]:
    """The turns that the model was given."""
    turns: list[Turn] = []
    for event in events:
        named = _MESSAGE.fullmatch(event.name)
        if named is not None:
            turns += read_turns([_read_body(event, role=named[1])])
        elif event.name == _PROMPT_EVENT:
            turns += _read_prompt(event.attributes.get(_PROMPT))
    return tuple(turns)


def read_replied_events(events: Sequence[SpanEvent]) -> str | None:
    """The text of the first choice, "" where it ends in a tool call, None where there is none."""
    for event in events:
        if event.name == _CHOICE:
            return read_reply([_read_body(event, role="assistant")])
        if event.name == _COMPLETION_EVENT:
            text = event.attributes.get(_COMPLETION)
            reply = read_reply(text)
            if reply is not None:
                return reply
            if isinstance(text, str) and text.strip() and read_embedded(text) is None:
                return _ROLE_AT_START.sub("", text, count=1) if _starts_with_role(text) else text
    return None


def _read_body(event: SpanEvent, *, role: str) -> dict[str, Any]:
    """The message of an event: attributes, one object (`gen_ai.event.content`), or what is in `message`."""
    fields = dict(event.attributes)
    body = fields.pop(_BODY, None)
    if isinstance(body, str):
        body = read_embedded(body)
    if isinstance(body, dict):
        fields.update(body)
    message = fields.get("message")
    if isinstance(message, str):
        message = read_embedded(message) or {"content": message}
    if isinstance(message, dict):
        fields = {
            "finish_reason": fields.get("finish_reason"),
            "tool_calls": fields.get("tool_calls"),
            **message,
        }
    given = fields.get("role")
    return {**fields, "role": given if isinstance(given, str) and given else role}


def _read_prompt(value: object) -> tuple[Turn, ...]:
    """Messages in JSON, else lines that begin with a role (`user: ...`), else one turn of the user."""
    turns = read_turns(value)
    if turns or not isinstance(value, str) or not value.strip():
        return turns
    if not _starts_with_role(value):
        return (Turn(role="user", content=value),)
    _, *pieces = _ROLE_AT_START.split(value)
    said = zip(pieces[::2], pieces[1::2], strict=True)
    return tuple(Turn(role=read_role(role), content=text.strip()) for role, text in said if text.strip())


def _starts_with_role(text: str) -> bool:
    return _ROLE_AT_START.match(text) is not None
