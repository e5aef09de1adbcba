"""JSON inside strings, as producers put it into attributes: read where it is sound, else left a text."""

from __future__ import annotations

import json
import math
from typing import Any

from ragsonde.extraction.nesting import NESTING_LEVELS, find_too_deep
from ragsonde.extraction.texts import mend_value

_DIGITS_AT_MOST = 308
_ROUNDS = 4


def read_embedded(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that `text` holds as JSON, else None.

    A string that holds JSON inside JSON is unwrapped, at most four times. Numbers that no double can hold
    and nesting deeper than 64 levels make it no JSON. Texts inside are mended.
    """
    value: object = text
    for _ in range(_ROUNDS):
        if not isinstance(value, str):
            break
        value = _read_once(value)
    if "\\u" in text:
        value, _ = mend_value(value)
    return value if isinstance(value, dict | list) else None


def _read_once(text: str) -> object:
    stripped = text.strip()
    if stripped[:1] not in {"{", "[", '"'} or find_too_deep(stripped, limit=NESTING_LEVELS) is not None:
        return None
    try:
        return json.loads(
            stripped, parse_constant=_refuse_number, parse_float=_read_float, parse_int=_read_integer
        )
    except ValueError:
        return None


def _refuse_number(text: str) -> float:
    raise ValueError(text)


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _refuse_number(text)
    return value


def _read_integer(text: str) -> int:
    if len(text) > _DIGITS_AT_MOST:
        _refuse_number(text)
    return int(text)
