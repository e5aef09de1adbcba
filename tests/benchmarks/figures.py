"""What a benchmark found, and how CPU is measured."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Figure(NamedTuple):
    """One line of the table; `bar` and `is_met` say what it is held to."""

    what: str
    measured: str
    bar: str
    is_met: bool


def time_call(call: Callable[[], object], *, times: int = 300) -> float:
    """Milliseconds of CPU a call."""
    call()
    begun = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begun) / times * 1000
