"""A user's floor beside a baseline: a mean below it gathers evidence, whatever scores were like before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.baseline import Baseline, BaselineKind
from ragsonde.regression.fall_bounds import HIGHEST_LEVEL, LOWEST_LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 60


class FloorSpan(NamedTuple):
    """A person's floor and the blocks that it holds for.

    Attributes:
        begins: the first of them.
        ends: the first that it does not hold for any more; None while it stands.
    """

    mean: float
    begins: int
    ends: int | None = None

    def holds(self, block: int) -> bool:
        """Whether the block is judged by it."""
        return self.begins <= block and (self.ends is None or block < self.ends)


def lift_baseline(baseline: Baseline, floor: float) -> Baseline:
    """The baseline with levels whose mean over its mix is the floor, where they would be lower.

    All levels are raised by the same amount, to .98 at most. S of a block bets on the mean of level less
    score over its traces, and exp(S) has expectation at most 1 while that mean is not above 0: so with the
    mix of the baseline evidence gathers if and only if the mean is below the floor. A shift of the mix alone
    to harder strata is none. Where the floor is above the baseline's own mean, its means are raised too: a
    drop is then against the floor. A floor below the levels changes nothing, as any mean below it gathers
    evidence already.

    Args:
        baseline: of the stream's own traces; a floor stays what it is.
        floor: a mean that scores should not be below.
    """
    weights = baseline.traces.astype(np.float64)
    if baseline.kind is BaselineKind.FLOOR or not weights.sum():
        return baseline
    weights /= weights.sum()
    lifted = replace(baseline, floor=floor)
    if baseline.is_watched.all() and float(weights @ baseline.levels) >= floor:
        return lifted
    levels = _raise_to(baseline.levels, weights, floor=min(floor, HIGHEST_LEVEL), highest=HIGHEST_LEVEL)
    means = baseline.means
    if floor > baseline.mean:
        means = _raise_to(means, weights, floor=floor, highest=1.0)
    return replace(lifted, means=means, levels=levels, is_watched=levels >= LOWEST_LEVEL)


def _raise_to(
    given: NDArray[np.float64], weights: NDArray[np.float64], *, floor: float, highest: float
) -> NDArray[np.float64]:
    """All raised by the amount with which their weighted mean is the floor, each to `highest` at most."""
    if float(weights @ given) >= floor:
        return given
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if float(weights @ np.minimum(given + middle, highest)) < floor:
            low = middle
        else:
            high = middle
    return np.minimum(given + high, highest)
