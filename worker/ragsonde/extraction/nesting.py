"""How deep a JSON text is nested, known before it is parsed."""

from __future__ import annotations

import re

NESTING_LEVELS = 64
"""JSON is read down to this depth, in messages and inside attributes."""

_NEXT_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([{}\[\]]|\Z)', re.DOTALL)


def find_too_deep(text: str, *, limit: int) -> int | None:
    """Offset of the first bracket that opens level `limit` + 1, or None; linear in the text."""
    if text.count("[") + text.count("{") <= limit:
        return None
    depth = 0
    for match in _NEXT_BRACKET.finditer(text):
        bracket = match[1]
        if bracket in {"[", "{"}:
            depth += 1
            if depth > limit:
                return match.start(1)
        elif bracket:
            depth -= 1
    return None


def cut_too_deep(text: str, *, limit: int, mark: str) -> str | None:
    """The text with `mark` for each list and object that opens level `limit` + 1; linear in the text.

    None where one of them does not end.
    """
    kept: list[str] = []
    depth = end = 0
    for match in _NEXT_BRACKET.finditer(text):
        bracket = match[1]
        if bracket in {"[", "{"}:
            depth += 1
            if depth == limit + 1:
                kept += (text[end : match.start(1)], mark)
        elif bracket:
            if depth == limit + 1:
                end = match.end(1)
            depth -= 1
    return "".join((*kept, text[end:])) if depth <= limit else None
