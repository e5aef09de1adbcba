"""Waiting on a condition with a deadline."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_PAUSE_SECONDS = 0.05


def wait_for(condition: Callable[[], T], *, seconds: float = 60.0, what: str = "the condition") -> T:
    """The first true value of the condition; an AssertionError that shows the last value when time is up."""
    ends_at = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > ends_at:
            raise AssertionError(f"{what} did not come within {seconds:g} s; last: {value!r}")
        time.sleep(_PAUSE_SECONDS)
    return value
