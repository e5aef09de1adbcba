"""Cuts the text of a JSON array into its items, so that each is read, and fails, on its own."""

from __future__ import annotations

import json
import re

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


def find_items(text: str) -> list[tuple[int, int]] | None:
    """Where each item begins and ends; None where the text is no JSON array, [] where it is an empty one.

    Args:
        text: without a byte order mark.
    """
    position = _skip_blanks(text, 0)
    if text[position : position + 1] != "[":
        return None
    position = _skip_blanks(text, position + 1)
    if text[position : position + 1] == "]":
        return [] if _skip_blanks(text, position + 1) == len(text) else None
    items: list[tuple[int, int]] = []
    while True:
        try:
            _, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        items.append((position, end))
        position = _skip_blanks(text, end)
        if text[position : position + 1] != ",":
            break
        position = _skip_blanks(text, position + 1)
    is_whole = text[position : position + 1] == "]" and _skip_blanks(text, position + 1) == len(text)
    return items if is_whole else None


def _skip_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found else position
