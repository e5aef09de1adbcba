"""What an alert says of a fall: how far, how sure, since when, where, and how much of it is only the mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.blocks import sum_by
from ragsonde.regression.dispersion import measure_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts

INTERVAL_FACTOR = 2.4
"""Standard errors on each side. Measured on streams with sessions and wander rather than proved: wider than
1.96, as the beginning was chosen where the fall looks clearest."""
WORST_STRATA = 3
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class StratumDrop:
    """How far one stratum fell."""

    name: str
    drop: float
    traces: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fall in words of numbers.

    Attributes:
        since: the block that it began with.
        drop: within strata: how much lower traces score than traces of their own cell did; above 0 is a fall.
        drop_lower: end of its interval.
        drop_upper: end of its interval.
        mix_shift: what the mean of all fell further because traces are of other cells than before.
        mean: of the traces since then.
        traces: since then.
        worst_strata: at most 3, by what they add to the drop; hours of the day are not named.
    """

    since: int
    drop: float
    drop_lower: float
    drop_upper: float
    mix_shift: float
    mean: float
    traces: int
    worst_strata: tuple[StratumDrop, ...]


def explain_fall(counts: BlockCounts, baseline: Baseline, *, smallest_drop: float) -> Explanation:
    """What the blocks of `counts`, up to the one that raised the alert, say of the fall at their end.

    Since when: the beginning for which the sum of (mean of the cell - d / 2 - score) up to the end is
    greatest, the maximum-likelihood estimate of Page's CUSUM (Page, Continuous inspection schemes, Biometrika
    41, 1954; Hinkley, Inference about the change-point, Biometrika 57, 1970) for a fall by d; d is twice the
    smallest drop first and then the drop since that beginning, until the beginning stays.

    Raises:
        ValueError: `counts` has no trace.
    """
    if not counts.trace_count:
        raise ValueError("a fall of no traces: the blocks up to the alert were expected")
    cell, blocks, place, lost, traces = _sum_losses(counts, baseline)
    since = _find_beginning(lost, traces, first_drop=2 * smallest_drop)
    return _describe(counts, baseline, since=int(blocks[since]), cell=cell, is_after=place >= since)


def explain_recovery(counts: BlockCounts, baseline: Baseline, *, drop: float) -> Explanation:
    """What is left of a fall by `drop`, since the block that the recovery began with.

    Args:
        counts: of the blocks from the alert to the one that resolved it.
        baseline: that the alert was raised against.
        drop: of the alert.

    Raises:
        ValueError: `counts` has no trace.
    """
    cell, blocks, place, lost, traces = _sum_losses(counts, baseline)
    since = int(np.argmax(np.cumsum((traces * drop / 2 - lost)[::-1])[::-1]))
    return _describe(counts, baseline, since=int(blocks[since]), cell=cell, is_after=place >= since)


class _Losses(NamedTuple):
    """The cell of each row, the blocks, each row's place in them, what each lost, how many traces it has."""

    cell: NDArray[np.int64]
    blocks: NDArray[np.int64]
    place: NDArray[np.int64]
    lost: NDArray[np.float64]
    traces: NDArray[np.float64]


def _sum_losses(counts: BlockCounts, baseline: Baseline) -> _Losses:
    if not counts.trace_count:
        raise ValueError("a fall of no traces: the blocks up to the alert were expected")
    cell = baseline.cells.assign(counts)
    blocks, place = np.unique(counts.block, return_inverse=True)
    lost = sum_by(place, counts.count * (baseline.means[cell] - counts.values))
    return _Losses(cell, blocks, place, lost, sum_by(place, counts.count))


def _find_beginning(lost: NDArray[np.float64], traces: NDArray[np.float64], *, first_drop: float) -> int:
    """The position of the block that the fall began with."""
    drop, since = first_drop, -1
    for _ in range(_ROUNDS):
        excess = np.cumsum((lost - traces * max(drop, first_drop / 4) / 2)[::-1])[::-1]
        found = int(np.argmax(excess))
        drop = float(lost[found:].sum() / traces[found:].sum())
        if found == since:
            break
        since = found
    return since


def _describe(
    counts: BlockCounts,
    baseline: Baseline,
    *,
    since: int,
    cell: NDArray[np.int64],
    is_after: NDArray[np.bool_],
) -> Explanation:
    cell, later = cell[is_after], counts.between(int(counts.block[is_after][0]), int(counts.block[-1]) + 1)
    count, values = later.count, later.values
    size = len(baseline.cells.names)
    traces = sum_by(cell, count, size=size)
    total = sum_by(cell, count * values, size=size)
    n = traces.sum()
    drop = float((baseline.means @ traces - total.sum()) / n)
    share = traces / n
    half = INTERVAL_FACTOR * baseline.find_error(traces, variance=measure_variance(later, cell, size=size))
    return Explanation(
        since=since,
        drop=drop,
        drop_lower=max(drop - half, -1.0),
        drop_upper=min(drop + half, 1.0),
        mix_shift=float(baseline.mean - baseline.means @ share),
        mean=float(total.sum() / n),
        traces=int(n),
        worst_strata=_find_worst(baseline, traces, total),
    )


def _find_worst(
    baseline: Baseline, traces: NDArray[np.float64], total: NDArray[np.float64]
) -> tuple[StratumDrop, ...]:
    if baseline.cells.is_by_hour:
        return ()
    lost = np.round(baseline.means * traces - total, 9)  # sums of equal scores differ in the last digits
    order = [int(place) for place in np.argsort(-lost, kind="stable") if lost[place] > 0][:WORST_STRATA]
    return tuple(
        StratumDrop(baseline.cells.names[place], float(lost[place] / traces[place]), int(traces[place]))
        for place in order
    )
