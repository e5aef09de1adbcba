"""What a model call of OpenInference was given: its messages, structured where the input tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.conventions.openinference_attributes import (
    INPUT_MESSAGES,
    read_json,
    read_messages,
)
from ragsonde.extraction.messages import is_of_tool, read_turns
from ragsonde.extraction.messages import read_messages as read_structured
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.span import Span

_MESSAGE_KEYS = ("messages", "input", "contents")


def read_given(span: Span) -> tuple[Turn, ...]:
    """The turns that the model was given.

    The input's own messages go before the flattened ones where they tell of tools: flattened, what a tool
    returned may stand as the text of a user (Anthropic's client), and that it failed is lost. What the system
    said beside those messages is in the flattened ones only.
    """
    flattened = [
        turn
        for message in read_messages(span, prefix=INPUT_MESSAGES)
        if message.text is not None
        for turn in _read_flattened(message.role, message.text)
    ]
    structured = _read_input(span)
    if not structured:
        return tuple(flattened)
    is_told = any(turn.role == "system" and turn in structured for turn in flattened)
    system = () if is_told else (turn for turn in flattened if turn.role == "system")
    return (*system, *structured)


def _read_flattened(role: str, text: str) -> Sequence[Turn]:
    """One message; a text that is a list of parts with what tools returned is read as those."""
    parts = read_structured([{"role": role, "content": text}]) if text.lstrip().startswith("[{") else ()
    is_result = any(map(is_of_tool, parts)) and role == "user"
    return read_turns([{"role": role, "content": text}]) if is_result else (Turn(role=role, content=text),)


def _read_input(span: Span) -> tuple[Turn, ...]:
    """The turns of the input's messages where any of them is of a tool; () where none is."""
    given = read_json(span, "input.value")
    places = [given, *(given.get(key) for key in _MESSAGE_KEYS)] if isinstance(given, dict) else [given]
    for place in places:
        if isinstance(place, dict | list) and any(map(is_of_tool, read_structured(place))):
            return read_turns(place)
    return ()
