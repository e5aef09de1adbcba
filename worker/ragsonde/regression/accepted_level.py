"""The baseline of a level that a person accepted: the one before, moved to where the scores are now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.baseline import LEAST_PINNED, PSEUDO_TRACES, Baseline, BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_HOUR
from ragsonde.regression.blocks import sum_by
from ragsonde.regression.dispersion import measure_overdispersion
from ragsonde.regression.fall_bounds import HIGHEST_LEVEL, LOWEST_LEVEL, SMALLEST_DROP

if TYPE_CHECKING:
    from ragsonde.regression.blocks import BlockCounts


def move_baseline(before: Baseline, counts: BlockCounts, *, smallest_drop: float = SMALLEST_DROP) -> Baseline:
    """The baseline that these traces make of the one before, so that few of them tell something already.

    Strata and hours stay those of before, and as dispersed at least: a stretch of hours knows nothing of the
    night. Every mean moves by how much these traces score lower; then each is drawn to what its own cell
    scores now, the moved mean weighing as much as 200 traces; the mean of all is that of these traces, as far
    as no mean is below 0 or above 1. Of fewer than 500 traces it is provisional.

    Args:
        before: that the fall was judged by.
        counts: of the traces since the level is as it is.
        smallest_drop: the smallest one that matters.

    Raises:
        ValueError: there is no trace at all.
    """
    n = counts.trace_count
    if not n:
        raise ValueError("a baseline of no traces: at least one was expected; wait for traces")
    cell = before.cells.assign(counts)
    size = len(before.cells.names)
    traces = sum_by(cell, counts.count, size=size)
    total = sum_by(cell, counts.count * counts.values, size=size)
    moved = before.means - (before.means @ traces - total.sum()) / n
    means = (total + PSEUDO_TRACES * moved) / (traces + PSEUDO_TRACES)
    means = np.clip(means + (total.sum() - means @ traces) / n, 0.0, 1.0)
    squares = float(counts.count @ (counts.values - means[cell]) ** 2)
    variance = (squares + PSEUDO_TRACES * before.variance) / (n + PSEUDO_TRACES)
    phi, clustering = (
        max(
            known,
            measure_overdispersion(
                counts, means[cell], variance=variance, fitted=int(np.count_nonzero(traces)), blocks=blocks
            ),
        )
        for blocks, known in ((BLOCKS_PER_HOUR, before.overdispersion), (1, before.clustering))
    )
    known = np.minimum(traces + PSEUDO_TRACES, n)
    lowest = means - smallest_drop - 2 * np.sqrt(variance * phi / known)
    return replace(
        before,
        kind=BaselineKind.PINNED if n >= LEAST_PINNED else BaselineKind.PROVISIONAL,
        traces=traces.astype(np.int64),
        known=known,
        means=means,
        levels=np.clip(lowest, 0.0, HIGHEST_LEVEL),
        is_watched=lowest >= LOWEST_LEVEL,
        variance=variance,
        overdispersion=phi,
        clustering=clustering,
        floor=None,
    )
