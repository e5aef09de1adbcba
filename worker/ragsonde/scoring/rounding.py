"""How numbers are rounded, and whether they are numbers at all."""

from __future__ import annotations

import math
from collections.abc import Mapping

_NOISE_FREE_DIGITS = 14


def half_up2(number: float) -> float:
    """The number rounded to two decimals, halves upwards.

    The 1e-9 outweighs what binary fractions lose at scales up to 100; Python's `round` (half to even, on the
    binary value) and a nudge of one unit in the last place do not.

    Raises:
        OverflowError: the number is infinite or too large.
        ValueError: it is NaN.
    """
    return math.floor(number * 100 + 1e-9 + 0.5) / 100


def show2(number: float) -> str:
    """The number with two decimals, as `half_up2` rounds it."""
    return f"{half_up2(number):.2f}"


def drop_noise(number: float) -> float:
    """The number without its last digits of binary noise: 0.39999999999999997 reaches the edge 0.4."""
    return round(number, _NOISE_FREE_DIGITS)


def is_finite_throughout(tree: object) -> bool:
    """True when no float inside a JSON-like tree is NaN or infinite; any depth."""
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif isinstance(value, list | tuple):
            pending.extend(value)
        elif not isinstance(value, str | int | None) and isinstance(value, Mapping):
            pending.extend(value.values())
    return True
