"""Intervals of means."""

from __future__ import annotations

import math
from statistics import NormalDist, mean, stdev
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
METHOD = "95 % interval of the mean raw score by Student's t, cut to 0..1, traces taken as independent"
_FEWEST = 2
_LARGE = 1000
_T_RANGE = (1.9, 13.0)
_PRECISION = 1e-9


class Interval(NamedTuple):
    """Where the mean of all such traces lies, with 95 % confidence."""

    lower: float
    upper: float


def find_interval(raws: Sequence[float]) -> Interval | None:
    """The interval of the mean of scores in 0..1, by Student's t; None below two scores.

    Equal scores give an interval without width: they tell nothing of how much scores vary.
    """
    n = len(raws)
    if n < _FEWEST:
        return None
    centre = mean(raws)
    reach = find_t(n - 1) * stdev(raws) / math.sqrt(n)
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach))


def find_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t, within 1e-8.

    Found by bisection on the central probability, which for whole degrees of freedom is a finite sum; above
    1,000 degrees by expansion around the normal quantile (Abramowitz and Stegun, Handbook of Mathematical
    Functions, 26.7.3 to 26.7.5).
    """
    if degrees > _LARGE:
        z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    lower, upper = _T_RANGE
    while upper - lower > _PRECISION:
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if _cover(middle, degrees=degrees) < CONFIDENCE else (lower, middle)
    return (lower + upper) / 2


def _cover(t: float, *, degrees: int) -> float:
    """The probability that Student's t lies between -t and t."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine_squared = math.cos(angle) ** 2
    is_odd = degrees % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for k in range(degrees // 2):
        total += term
        term *= (
            cosine_squared * (2 * k + 2) / (2 * k + 3)
            if is_odd
            else cosine_squared * (2 * k + 1) / (2 * k + 2)
        )
    return 2 / math.pi * (angle + math.sin(angle) * total) if is_odd else math.sin(angle) * total
