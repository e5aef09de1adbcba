"""What a stream's scores were like while all was well, and how low a mean is still no fall."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.block_lengths import BLOCKS_PER_HOUR
from ragsonde.regression.blocks import sum_by
from ragsonde.regression.dispersion import measure_cells, measure_overdispersion
from ragsonde.regression.fall_bounds import HIGHEST_LEVEL, LOWEST_LEVEL, SMALLEST_DROP
from ragsonde.regression.strata import REST, Cells, choose_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.blocks import BlockCounts

BASELINE_DAYS = 7
LEAST_PINNED = 500
LEAST_PROVISIONAL = 1_000
PSEUDO_TRACES = 200


class BaselineKind(StrEnum):
    """Where a baseline comes from; only a pinned one and a floor may page."""

    PINNED = "pinned"
    PROVISIONAL = "provisional"
    FLOOR = "floor"
    ROLLING = "rolling"


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Means to compare with, and the levels that bets are made against.

    Attributes:
        kind: where it comes from.
        cells: what each position of the arrays stands for.
        traces: int64 [cells], how many each mean is of.
        known: [cells], how many traces each mean is as good as: with the 200 of an hour; infinite for a
            floor, which is not estimated.
        means: [cells]; of an hour of the day shrunk towards the mean of all by 200 pseudo-traces.
        levels: [cells], m: the mean less the smallest drop that matters less 2 standard errors, which go by
            the phi of the cell's own hours; at most .98.
        is_watched: bool [cells]; false where the level is below .02: there is no room to fall, or too
            little is known, so nothing is bet.
        variance: of a trace about the mean of its cell, pooled.
        overdispersion: phi of hours, at least 1.
        clustering: phi of blocks, at least 1: of sessions, without the slow wander of the whole stream.
        floor: of a person, that the levels were raised to; none where nobody set one.
    """

    kind: BaselineKind
    cells: Cells
    traces: NDArray[np.int64]
    known: NDArray[np.float64]
    means: NDArray[np.float64]
    levels: NDArray[np.float64]
    is_watched: NDArray[np.bool_]
    variance: float
    overdispersion: float
    clustering: float
    floor: float | None = None

    @property
    def trace_count(self) -> int:
        """All traces of it."""
        return int(self.traces.sum())

    @property
    def mean(self) -> float:
        """Of all its traces; of a floor without traces the floor."""
        if not self.trace_count:
            return float(self.means.mean())
        return float(self.means @ self.traces / self.trace_count)

    def find_error(self, traces: NDArray[np.float64], *, variance: float) -> float:
        """The standard error of the drop of so many traces of each cell, [cells], against their means.

        Args:
            traces: [cells], later ones.
            variance: of a later trace about the mean of its cell. Scores that lay near 1 vary more once they
                have fallen; the baseline's own variance is the least that is reckoned with.
        """
        total = traces.sum()
        share = traces / total
        own = self.variance * (share**2 / np.maximum(self.known, 1)).sum()
        return float(np.sqrt(self.overdispersion * (max(variance, self.variance) / total + own)))

    @property
    def smallest_visible_drop(self) -> float | None:
        """How far the watched cells must fall together before evidence gathers; none if none is watched."""
        if not self.is_watched.any():
            return None
        weights = np.where(self.is_watched, np.maximum(self.traces, 1), 0)
        return float((self.means - self.levels) @ weights / weights.sum())


def fit_baseline(
    counts: BlockCounts,
    *,
    smallest_drop: float = SMALLEST_DROP,
    kind: BaselineKind = BaselineKind.PINNED,
    cells: Cells | None = None,
) -> Baseline:
    """The baseline that these traces make; `cells` are chosen from them unless given.

    Raises:
        ValueError: there is no trace at all.
    """
    if not counts.trace_count:
        raise ValueError(
            "a baseline of no traces: at least one was expected; wait for traces, or give a floor"
        )
    cells = choose_cells(counts) if cells is None else cells
    cell = cells.assign(counts)
    size = len(cells.names)
    traces = sum_by(cell, counts.count, size=size)
    total = sum_by(cell, counts.count * counts.values, size=size)
    overall = total.sum() / traces.sum()
    pseudo = PSEUDO_TRACES if cells.is_by_hour else 0
    shrunk = traces + pseudo
    means = np.where(shrunk > 0, (total + pseudo * overall) / np.maximum(shrunk, 1), overall)
    known = np.minimum(shrunk, traces.sum())
    variance = float(counts.count @ (counts.values - means[cell]) ** 2 / counts.trace_count)
    fitted = int(np.count_nonzero(traces))
    phi, clustering = (
        measure_overdispersion(counts, means[cell], variance=variance, fitted=fitted, blocks=blocks)
        for blocks in (BLOCKS_PER_HOUR, 1)
    )
    own = measure_cells(counts, cell, means[cell], variance=variance, overall=phi, size=size)
    with np.errstate(divide="ignore"):
        error = np.sqrt(variance * own / known)
    error[known == 0] = np.inf
    lowest = means - smallest_drop - 2 * error
    return Baseline(
        kind=kind,
        cells=cells,
        traces=traces.astype(np.int64),
        known=known,
        means=means,
        levels=np.clip(lowest, 0.0, HIGHEST_LEVEL),
        is_watched=lowest >= LOWEST_LEVEL,
        variance=variance,
        overdispersion=phi,
        clustering=clustering,
    )


def make_floor(floor: float, counts: BlockCounts) -> Baseline:
    """The baseline "not below `floor`", without allowance; spread and phi are of what traces there are.

    Without traces the variance is .25, the largest that scores can have, and phi is 1.

    Raises:
        ValueError: `floor` is below .02 or above 1.
    """
    if not LOWEST_LEVEL <= floor <= 1:
        raise ValueError(
            f"floor {floor}: from {LOWEST_LEVEL} to 1 was expected; lower leaves no room to fall"
        )
    traces = counts.trace_count
    variance, phi, clustering = 0.25, 1.0, 1.0
    if traces:
        mean = np.full(counts.bin.size, counts.count @ counts.values / traces)
        variance = float(counts.count @ (counts.values - mean) ** 2 / traces)
        phi, clustering = (
            measure_overdispersion(counts, mean, variance=variance, fitted=1, blocks=blocks)
            for blocks in (BLOCKS_PER_HOUR, 1)
        )
    return Baseline(
        kind=BaselineKind.FLOOR,
        cells=Cells((REST,), is_by_hour=False),
        traces=np.array([traces]),
        known=np.array([np.inf]),
        means=np.array([floor]),
        levels=np.array([min(floor, HIGHEST_LEVEL)]),
        is_watched=np.ones(1, np.bool_),
        variance=variance,
        overdispersion=phi,
        clustering=clustering,
    )
