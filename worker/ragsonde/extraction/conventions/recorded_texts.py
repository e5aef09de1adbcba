"""The question and the answer in what a step was recorded to take and to return."""

from __future__ import annotations

import re
from typing import Any

from ragsonde.extraction.conventions.recorded_values import is_unreadable_json, read_value
from ragsonde.extraction.messages import read_question as read_message_question
from ragsonde.extraction.messages import read_reply

_QUESTION_KEYS = (
    "query",
    "question",
    "input",
    "inputs",
    "kwargs",
    "user_input",
    "user_query",
    "user_message",
    "input_str",
    "message",
    "qb",
    "prompt",
)
_NO_QUESTION_KEYS = frozenset(
    {
        "id",
        "instructions",
        "language",
        "locale",
        "model",
        "name",
        "session_id",
        "system",
        "thread_id",
        "type",
        "user_id",
    }
)
_ANSWER_KEYS = (
    "answer",
    "response",
    "output",
    "outputs",
    "result",
    "generation",
    "final_answer",
    "final_output",
    "output_text",
    "completion",
    "reply",
    "text",
    "content",
)
_WRAPPER_KEYS = ("data", "body")
_STATUS_KEY = "message"
"""What an object says last of all: a service's word for how it went, where it wraps something else."""
_CHOICE_KEYS = ("choices", "generations", "candidates")
_CALL_KEYS = ("tool_calls", "toolCalls", "function_call", "toolCallId")
_CALL_TYPES = ("function_call", "tool_call", "tool-call", "tool_use")
_LEVELS = 6
_REPRESENTATION = re.compile(r"<[\w.]+ (?:[\w.<>]+ )*at 0x[0-9a-fA-F]+>+|<[\w.]+\(.*\)>", re.DOTALL)
"""What Python prints for an object, a generator or a function."""
_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")


def read_question(recorded: object) -> str | None:
    """The question in what a step took: the text itself, the last user message, or what stands under its key.

    Of an object: the first of the keys that libraries use, the arguments of a traced function
    (`args`, `kwargs`), else its only text.
    """
    return _read_question(recorded, levels=_LEVELS)


def read_answer(recorded: object) -> str | None:
    """The answer in what a step returned: the text itself, the last reply, or what stands under its key.

    "" where it ends in a call of a tool: then there is no answer. None where nothing says.
    """
    return _read_answer(recorded, levels=_LEVELS)


def keep_plain(text: str) -> str | None:
    """The text, None where it is blank, JSON that cannot be read, or what Python prints for an object."""
    is_plain = text.strip() and not is_unreadable_json(text) and not is_representation(text)
    return text if is_plain else None


def is_representation(text: str) -> bool:
    """True for what Python prints for an object that has no text, as some instrumentations record it."""
    return _REPRESENTATION.fullmatch(text.strip()) is not None


def _read_question(recorded: object, *, levels: int) -> str | None:
    value = read_value(recorded)
    if isinstance(value, str):
        return keep_plain(value)
    if not levels or not isinstance(value, dict | list):
        return None
    if isinstance(value, list):
        return _find_asked(value) or _find_only_text(value)
    found = (_read_question(value.get(key), levels=levels - 1) for key in _QUESTION_KEYS)
    asked = next((text for text in found if text is not None), None)
    return (
        asked
        or _find_asked(value)
        or _find_argument(value.get("args"), levels=levels - 1)
        or _find_only_text([item for key, item in value.items() if key not in _NO_QUESTION_KEYS])
    )


def _find_asked(value: dict[str, Any] | list[Any]) -> str | None:
    asked = read_message_question(value)
    return None if asked is None else keep_plain(asked)


def _find_argument(arguments: object, *, levels: int) -> str | None:
    """The first argument of a traced function that asks anything; a method's object is told by its class."""
    items = arguments if isinstance(arguments, list) else []
    asked = [text for item in items if (text := _read_question(item, levels=levels)) is not None]
    is_method = len(asked) > 1 and _CLASS_NAME.fullmatch(asked[0]) is not None
    return asked[is_method] if asked else None


def _find_only_text(values: list[Any]) -> str | None:
    texts = [text for value in values if isinstance(value, str) and (text := keep_plain(value))]
    return texts[0] if len(texts) == 1 else None


def _read_answer(recorded: object, *, levels: int) -> str | None:
    value = read_value(recorded)
    if isinstance(value, str):
        return keep_plain(value)
    if not levels or not isinstance(value, dict | list):
        return None
    reply = read_reply(value)
    if reply is not None:
        return reply
    if isinstance(value, list):
        return _read_last(value, levels=levels - 1)
    return "" if _calls_tool(value) else _read_keyed_answer(value, levels=levels - 1)


def _read_last(items: list[Any], *, levels: int) -> str | None:
    """What a list of one holds; of several only whether it ends in a call of a tool."""
    if items and _calls_tool(items[-1]):
        return ""
    return _read_answer(items[0], levels=levels) if len(items) == 1 else None


def _calls_tool(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    return item.get("type") in _CALL_TYPES or any(item.get(key) for key in _CALL_KEYS)


def _read_keyed_answer(value: dict[str, Any], *, levels: int) -> str | None:
    for key in _CHOICE_KEYS:
        choices = value.get(key)
        if isinstance(choices, list) and choices:
            return _read_answer([choices[0]], levels=levels)
    answers = (_read_answer(value.get(key), levels=levels) for key in _ANSWER_KEYS)
    answer = next((answer for answer in answers if answer is not None), None)
    return _read_wrapped_answer(value, levels=levels) if answer is None else answer


def _read_wrapped_answer(value: dict[str, Any], *, levels: int) -> str | None:
    """What a service's reply wraps; where an answer may be inside, its message only tells how it went."""
    wrapped = [inner for key in _WRAPPER_KEYS if isinstance(inner := read_value(value.get(key)), dict)]
    answers = (_read_answer(inner, levels=levels) for inner in wrapped)
    answer = next((answer for answer in answers if answer is not None), None)
    if answer is not None:
        return answer
    places = (read_value(value.get(key)) for key in (*_WRAPPER_KEYS, *_ANSWER_KEYS))
    is_status = any(isinstance(place, dict | list) and place for place in places)
    return None if is_status else _read_answer(value.get(_STATUS_KEY), levels=levels)
