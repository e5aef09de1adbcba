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
    text: str,
    *,
    read_object: Callable[[list[tuple[str, Any]]], Any] | None = None,
    refuse: Callable[[str], Any] | None = None,
) -> Any:  # noqa: ANN401 - JSON holds anything
    """The value that a JSON text holds.

    Args:
        text: not nested deeper than the caller allows; see `find_too_deep`.
        read_object: makes an object of its pairs; None: the last of equal keys holds.
        refuse: what stands for a number that cannot be kept; None: it is an error.

    Raises:
        json.JSONDecodeError: it is no JSON.
        RefusedNumberError: a number in it cannot be kept.
    """
    refuse = refuse or _refuse

    def read_float(number: str) -> Any:  # noqa: ANN401 - what `refuse` returns
        value = float(number)
        return value if math.isfinite(value) else refuse(number)

    def read_integer(number: str) -> Any:  # noqa: ANN401 - what `refuse` returns
        return int(number) if len(number) <= DIGITS_AT_MOST else refuse(number)

    return json.loads(
        text,
        object_pairs_hook=read_object,
        parse_constant=refuse,
        parse_float=read_float,
        parse_int=read_integer,
    )


def _refuse(text: str) -> float:
    raise RefusedNumberError(text)
