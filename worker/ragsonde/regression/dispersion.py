"""How much more the means of hours vary than independent traces would let them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.block_lengths import BLOCKS_PER_HOUR
from ragsonde.regression.blocks import sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.blocks import BlockCounts

LEAST_TRACES = 5
LEAST_FREEDOM = 24
"""Of the hours of one cell: its own phi is then known to about 30 %, and its root to 15 %."""
NO_VARIANCE = 1e-12
"""Of equal scores, whose mean differs from them in the last digits."""


def measure_variance(counts: BlockCounts, cell: NDArray[np.int64], *, size: int) -> float:
    """The variance of a trace about the mean of its cell in these counts; of no trace 0.

    Args:
        counts: of some traces.
        cell: [rows], of each row.
        size: number of cells.
    """
    if not counts.trace_count:
        return 0.0
    traces = sum_by(cell, counts.count, size=size)
    means = sum_by(cell, counts.count * counts.values, size=size) / np.maximum(traces, 1)
    return float(counts.count @ (counts.values - means[cell]) ** 2 / counts.trace_count)


def measure_overdispersion(
    counts: BlockCounts,
    expected: NDArray[np.float64],
    *,
    variance: float,
    fitted: int,
    blocks: int = BLOCKS_PER_HOUR,
) -> float:
    """phi: Pearson's chi-square of the buckets' residual means over its degrees of freedom, at least 1.

    The usual estimate of quasi-likelihood (McCullagh and Nelder, Generalized Linear Models, 1989, 4.5).
    It takes in what makes traces of an hour alike: sessions, and a slow wander of the whole stream.

    Args:
        counts: of the baseline.
        expected: [rows], the mean of each row's cell.
        variance: of a trace about the mean of its cell.
        fitted: means that were estimated from the same traces.
        blocks: in a bucket; 12 make an hour. Buckets with fewer than 5 traces are left out.
    """
    if variance < NO_VARIANCE or not counts.block.size:
        return 1.0
    _, bucket = np.unique(counts.block // blocks, return_inverse=True)
    traces = sum_by(bucket, counts.count)
    residual = sum_by(bucket, counts.count * (counts.values - expected))
    is_used = traces >= LEAST_TRACES
    freedom = int(is_used.sum()) - fitted
    if freedom < 1:
        return 1.0
    chi_square = float((residual[is_used] ** 2 / traces[is_used]).sum()) / variance
    return max(1.0, chi_square / freedom)


def measure_cells(
    counts: BlockCounts,
    cell: NDArray[np.int64],
    expected: NDArray[np.float64],
    *,
    variance: float,
    overall: float,
    size: int,
) -> NDArray[np.float64]:
    """Phi of the hours of each cell alone, at least 1: what the error of its own mean goes by, [cells].

    A wander that all traces of an hour share makes the mean of a large cell no better known than that of a
    small one, and sessions lie in one cell: phi of all traces would count the wander again for each cell.

    Args:
        counts: of the baseline.
        cell: [rows], of each row.
        expected: [rows], the mean of each row's cell.
        variance: of a trace about the mean of its cell.
        overall: phi of all; of cells with fewer than 25 hours of 5 traces.
        size: number of cells.
    """
    phi = np.full(size, overall)
    if variance < NO_VARIANCE or not counts.block.size:
        return phi
    hours = counts.block // BLOCKS_PER_HOUR
    known, bucket = np.unique(hours * size + cell, return_inverse=True)
    traces = sum_by(bucket, counts.count)
    residual = sum_by(bucket, counts.count * (counts.values - expected))
    is_used = traces >= LEAST_TRACES
    of_cell = known[is_used] % size
    chi_square = sum_by(of_cell, residual[is_used] ** 2 / traces[is_used], size=size) / variance
    freedom = np.bincount(of_cell, minlength=size) - 1
    is_known = freedom >= LEAST_FREEDOM
    phi[is_known] = np.maximum(chi_square[is_known] / freedom[is_known], 1.0)
    return phi
