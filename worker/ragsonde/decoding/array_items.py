"""Cuts the text of a JSON array into its items, so that each is read, and fails, on its own."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


class ArrayItem(NamedTuple):
    """Where an item begins and ends, and its value, leniently read."""

    begin: int
    end: int
    value: Any


def find_items(text: str) -> list[ArrayItem] | None:
    """The items in order; None where the text is no JSON array, [] where it is an empty one.

    Args:
        text: without a byte order mark.
    """
    position = _skip_blanks(text, 0)
    if text[position : position + 1] != "[":
        return None
    position = _skip_blanks(text, position + 1)
    if text[position : position + 1] == "]":
        return [] if _skip_blanks(text, position + 1) == len(text) else None
    items: list[ArrayItem] = []
    while True:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        items.append(ArrayItem(position, end, value))
        position = _skip_blanks(text, end)
        if text[position : position + 1] != ",":
            break
        position = _skip_blanks(text, position + 1)
    is_whole = text[position : position + 1] == "]" and _skip_blanks(text, position + 1) == len(text)
    return items if is_whole else None


def _skip_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found else position
