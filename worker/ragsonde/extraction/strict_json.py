"""JSON with numbers that every reader understands alike."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS_AT_MOST = 308
"""No double holds an integer of more digits for sure."""


class RefusedNumberError(ValueError):
    """A number that no double can hold, or NaN or Infinity; its argument is the text of the number."""


def parse_json(
    text: str, *, read_object: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None
) -> Any:  # noqa: ANN401 - JSON holds anything
    """The value that a JSON text holds.

    Args:
        text: not nested deeper than the caller allows; see `find_too_deep`.
        read_object: makes an object of its pairs; None: the last of equal keys holds.

    Raises:
        json.JSONDecodeError: it is no JSON.
        RefusedNumberError: a number in it cannot be kept.
    """
    return json.loads(
        text,
        object_pairs_hook=read_object,
        parse_constant=_refuse,
        parse_float=_read_float,
        parse_int=_read_integer,
    )


def _refuse(text: str) -> float:
    raise RefusedNumberError(text)


def _read_float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _read_integer(text: str) -> int | float:
    return int(text) if len(text) <= DIGITS_AT_MOST else _refuse(text)
