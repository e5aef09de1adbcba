"""What a model was told and what it replied, by the attributes of a GenAI span, else by its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.genai_events import read_asked_events, read_replied_events
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.flattened import read_flattened
from ragsonde.extraction.messages import read_reply, read_turns
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde_schemas.span import SpanEvent

_INPUT = "gen_ai.input.messages"
_OUTPUT = "gen_ai.output.messages"
_INSTRUCTIONS = "gen_ai.system_instructions"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"


def read_asked(attributes: Mapping[str, Any], events: Sequence[SpanEvent]) -> tuple[Turn, ...]:
    """The turns that the model was given, instructions first."""
    turns = (
        read_turns(attributes.get(_INPUT))
        or _read_flattened(attributes, prefix=PROMPT)
        or _read_text(attributes.get(PROMPT), role="user")
        or read_asked_events(events)
    )
    return (*_read_instructions(attributes.get(_INSTRUCTIONS)), *turns)


def read_replied(attributes: Mapping[str, Any], events: Sequence[SpanEvent]) -> str | None:
    """The text of the reply, "" where it ends in a tool call, None where none was recorded."""
    reply = read_reply(attributes.get(_OUTPUT))
    if reply is None:
        flattened = read_flattened(attributes, prefix=COMPLETION)
        reply = read_reply([_read_choice(flattened[0])]) if flattened else None
    if reply is None:
        text = attributes.get(COMPLETION)
        reply = read_reply(text)
        if reply is None and isinstance(text, str) and text.strip() and read_embedded(text) is None:
            reply = text
    return read_replied_events(events) if reply is None else reply


def _read_instructions(value: object) -> tuple[Turn, ...]:
    parts = read_embedded(value) if isinstance(value, str) else value
    if parts is None:
        return _read_text(value, role="system")
    return read_turns([{"role": "system", "parts": parts if isinstance(parts, list) else [parts]}])


def _read_text(value: object, *, role: str) -> tuple[Turn, ...]:
    """Messages in JSON, else the text as one turn of `role`."""
    turns = read_turns(value)
    if turns or not isinstance(value, str) or not value.strip():
        return turns
    return (Turn(role=role, content=value),)


def _read_flattened(attributes: Mapping[str, Any], *, prefix: str) -> tuple[Turn, ...]:
    return read_turns([_read_choice(item) for item in read_flattened(attributes, prefix=prefix)])


def _read_choice(item: dict[str, Any]) -> dict[str, Any]:
    """A message that was flattened: `gen_ai.completion.0.{role,content,finish_reason,tool_calls.0.name}`."""
    calls = [name for name in item if name.startswith("tool_calls.")]
    return {
        "role": item.get("role") or "assistant",
        "content": item.get("content"),
        "finish_reason": item.get("finish_reason"),
        "tool_calls": calls,
    }
