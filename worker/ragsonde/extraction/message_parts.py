"""The parts of a message: texts, results of tools and calls of tools, as the libraries write them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ragsonde.extraction.failures import is_failure

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", None})
_RESULT_ITEMS = frozenset({"function_call_output", "custom_tool_call_output"})
"""Of OpenAI's Responses API, which lists results and calls beside its messages."""
_CALL_ITEMS = frozenset({"function_call", "custom_tool_call"})
_CALL_PARTS = _CALL_ITEMS | {"tool_call", "tool-call", "tool_use", "functionCall"}
_RESULT_PARTS = _RESULT_ITEMS | {"tool_call_response", "tool_result", "tool-result", "function_response"}
_RESULT_KEYS = ("response", "result", "output", "content")
_WRAPPED_RESULTS = frozenset({"json", "text", "content", "error-text", "error-json"})


class Parts(NamedTuple):
    """What a content is made of.

    Attributes:
        texts: those that are not blank.
        results: what tools returned, as texts; a JSON value as JSON.
        calls: for each part whether it is a call of a tool.
        has_failures: a result says that its tool failed; it is not among the results.
    """

    texts: list[str]
    results: list[str]
    calls: list[bool]
    has_failures: bool = False


def read_parts(content: object) -> Parts:
    """The parts of a content: of one text, or of a list; nothing for anything else."""
    if isinstance(content, str):
        return Parts([content] if content.strip() else [], [], [])
    texts: list[str] = []
    results: list[str] = []
    calls: list[bool] = []
    has_failures = False
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
            calls.append(False)
        elif isinstance(part, dict):
            kind = part.get("type") if isinstance(part.get("type"), str) else None
            calls.append(kind in _CALL_PARTS)
            if kind in _RESULT_PARTS and is_failure(part):
                has_failures = True
            elif kind in _RESULT_PARTS:
                results += _read_result(part)
            elif kind in _TEXT_PARTS:
                given = (part.get("content"), part.get("text"))
                texts += [text for text in given if isinstance(text, str)][:1]
    return Parts([text for text in texts if text.strip()], results, calls, has_failures)


def is_result_item(item: dict[str, Any]) -> bool:
    """True for what a tool returned, as an item beside messages."""
    return _has_type(item, _RESULT_ITEMS) and "role" not in item


def is_call_item(item: dict[str, Any]) -> bool:
    """True for a call of a tool, as an item beside messages."""
    return _has_type(item, _CALL_ITEMS) and "role" not in item


def are_parts(items: list[Any]) -> bool:
    """True where every item is an object of a `type` with something beside it."""
    return all(
        isinstance(item, dict) and isinstance(item.get("type"), str) and len(item) > 1 for item in items
    )


def join_texts(items: list[Any]) -> str | None:
    """The texts of a list of text parts, joined by line ends; None where it is no such list."""
    if not items or not are_parts(items) or not all(isinstance(item.get("text"), str) for item in items):
        return None
    return "\n".join(read_parts(items).texts)


def _has_type(item: dict[str, Any], kinds: frozenset[str]) -> bool:
    kind = item.get("type")
    return isinstance(kind, str) and kind in kinds


def _read_result(part: dict[str, Any]) -> list[str]:
    value = next((part[key] for key in _RESULT_KEYS if part.get(key) is not None), None)
    if isinstance(value, dict) and str(value.get("type")) in _WRAPPED_RESULTS and "value" in value:
        value = value["value"]
    if isinstance(value, list):
        joined = join_texts(value)
        value = value if joined is None else joined
    if value is None:
        return []
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
