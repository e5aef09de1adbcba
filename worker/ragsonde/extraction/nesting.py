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
