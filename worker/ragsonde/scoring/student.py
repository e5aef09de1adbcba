"""Intervals of means."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95
FEWEST = 20
"""Scores below which no interval is told: they are lumpy, and so few tell too little of their spread."""
METHOD = (
    "95 % interval of the mean raw score by Student's t, cut to 0..1, traces taken as independent; none "
    f"below {FEWEST} scores"
)
_RULE_OF_THREE = 3.0
_NO_SPREAD = 1e-9
_LARGE = 1000
_T_RANGE = (1.9, 13.0)
_PRECISION = 1e-9


class Interval(NamedTuple):
    """Where the mean of all such traces lies, with 95 % confidence."""

    lower: float
    upper: float


def find_interval(mean: float, *, deviation: float | None, n: int) -> Interval | None:
    """The interval of the mean of scores in 0..1, by Student's t; None below `FEWEST` scores.

    Scores that are all equal have no spread, which does not mean that others have none: with 95 % confidence
    less than 3/n of all traces differ (rule of three; Hanley and Lippman-Hand, JAMA 249, 1983), by 1 at most.

    Args:
        mean: of the raw scores.
        deviation: their sample standard deviation; None where it is not known.
        n: how many they are.
    """
    if deviation is None or n < FEWEST:
        return None
    if deviation < _NO_SPREAD:
        different = _RULE_OF_THREE / n
        return Interval(mean * (1 - different), mean + (1 - mean) * different)
    reach = find_t(n - 1) * deviation / math.sqrt(n)
    return Interval(max(0.0, mean - reach), min(1.0, mean + reach))


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
