"""Means that are summed up as numbers come, so that any count of them takes the same memory."""

from __future__ import annotations

import math
from typing import NamedTuple

from ragsonde.scoring.student import find_t


class Summary(NamedTuple):
    """A mean of so many numbers.

    Attributes:
        mean: None without any.
        reach: half the width of the 95 % interval by Student's t; None below two numbers.
    """

    n: int
    mean: float | None
    reach: float | None


class Moments:
    """Count, mean and spread of the numbers so far, each taken in once.

    B. P. Welford, Note on a method for calculating corrected sums of squares and products, Technometrics 4,
    1962: no sum of squares that cancels.
    """

    def __init__(self) -> None:
        self._n = 0
        self._mean = 0.0
        self._squares = 0.0

    def add(self, number: float) -> None:
        """Takes in one more."""
        self._n += 1
        distance = number - self._mean
        self._mean += distance / self._n
        self._squares += distance * (number - self._mean)

    def summarise(self) -> Summary:
        """What they come to."""
        if not self._n:
            return Summary(0, None, None)
        if self._n == 1:
            return Summary(1, self._mean, None)
        deviation = math.sqrt(self._squares / (self._n - 1))
        return Summary(self._n, self._mean, find_t(self._n - 1) * deviation / math.sqrt(self._n))


class Shift:
    """One scorer's scores before and after something changed, and the change of those that have both."""

    def __init__(self) -> None:
        self.before = Moments()
        self.after = Moments()
        self.change = Moments()

    def add(self, before: float | None, after: float | None) -> None:
        """Takes in the raw scores of one trace, None where it has none."""
        if before is not None:
            self.before.add(before)
        if after is not None:
            self.after.add(after)
        if before is not None and after is not None:
            self.change.add(after - before)
