"""Numbers, ages and names as people read them."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde_schemas.app_name import show_app

if TYPE_CHECKING:
    from ragsonde_schemas.watched import Place

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_TWO_SIDED_95 = 1.96


def say_age(moment: datetime, *, now: datetime) -> str:
    """`12 s ago`, `3 h ago`; a clock that is ahead of ours says `just now`."""
    seconds = (now - moment) / timedelta(seconds=1)
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def say_place(place: Place) -> str:
    """`support-bot, production`; without an environment the app alone."""
    return ", ".join(name for name in (show_app(place.app), place.environment) if name)


def say_moment(moment: datetime) -> str:
    """`2026-10-07 12:00:31 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def say_share(part: int, whole: int) -> str:
    """`12 %`; below one `0.4 %`, and never 0 or 100 where it is not."""
    if not whole:
        return "none"
    percent = 100 * part / whole
    if 0 < percent < 1 or 99 < percent < 100:  # noqa: PLR2004 - of a hundred
        return f"{min(99.9, max(0.1, round(percent, 1))):g} %"
    return f"{percent:.0f} %"


def find_interval(mean: float, *, deviation: float | None, n: int) -> tuple[float, float] | None:
    """Where the mean of many such traces lies, with 95 % confidence (normal approximation), cut to 0..1.

    None for fewer than two traces.
    """
    if deviation is None or n < 2:  # noqa: PLR2004 - one value has no spread
        return None
    half = _TWO_SIDED_95 * deviation / math.sqrt(n)
    return max(0.0, mean - half), min(1.0, mean + half)
