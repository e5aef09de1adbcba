"""JSON inside strings, as producers put it into attributes: read where it is sound, else left a text."""

from __future__ import annotations

from typing import Any

from ragsonde.extraction.nesting import NESTING_LEVELS, find_too_deep
from ragsonde.extraction.strict_json import parse_json
from ragsonde.extraction.texts import mend_text, mend_value

_ROUNDS = 4


def read_embedded(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that `text` holds as JSON, else None.

    A string that holds JSON inside JSON is unwrapped, at most four times. Numbers that no double can hold
    and nesting deeper than `NESTING_LEVELS` make it no JSON. Texts inside are mended.
    """
    value: object = text
    for _ in range(_ROUNDS):
        if not isinstance(value, str):
            break
        value = _read_once(value)
    if "\\u" in text:
        value, _ = mend_value(value)
    return value if isinstance(value, dict | list) else None


def read_plain(text: str) -> str | None:
    """A text that is no object or list, as it was before it was written as a JSON string, as often as it was.

    None for a blank text and for the text `null`: nothing was recorded.
    """
    for _ in range(_ROUNDS):
        stripped = text.strip()
        if len(stripped) == 1 or not (stripped.startswith('"') and stripped.endswith('"')):
            break
        try:
            text = parse_json(stripped)
        except ValueError:
            break
    return None if text.strip() in {"", "null"} else mend_text(text)


def _read_once(text: str) -> object:
    stripped = text.strip()
    if stripped[:1] not in {"{", "[", '"'} or find_too_deep(stripped, limit=NESTING_LEVELS) is not None:
        return None
    try:
        return parse_json(stripped)
    except ValueError:
        return None
