"""How surely the mean of a stream's scores is known."""

from __future__ import annotations

import math
from typing import NamedTuple

from ragsonde.regression.explanation import INTERVAL_FACTOR

LEAST_SCORES = 20
"""The interval of one or two has no width, and looks certain."""


class MeanInterval(NamedTuple):
    """What a mean lies in, on the scale 0 to 1."""

    lower: float
    upper: float


def bound_mean(n: int, *, total: float, squares: float, overdispersion: float) -> MeanInterval | None:
    """The mean with 2.4 standard errors on each side; None of fewer than 20 scores.

    The standard error is sqrt(variance * overdispersion / n), with the variance of the sample (n - 1).

    Args:
        n: scores.
        total: their sum.
        squares: the sum of their squares.
        overdispersion: how much more hours vary than independent traces would, as a ratio of variances; 1
            where it is not known.
    """
    if n < LEAST_SCORES:
        return None
    mean = total / n
    variance = max(0.0, squares - n * mean**2) / (n - 1)
    half = INTERVAL_FACTOR * math.sqrt(variance * overdispersion / n)
    return MeanInterval(max(0.0, mean - half), min(1.0, mean + half))
