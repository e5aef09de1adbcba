"""When a stream can be watched, and by which baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.regression.baseline import (
    LEAST_PINNED,
    LEAST_PROVISIONAL,
    Baseline,
    BaselineKind,
    fit_baseline,
    make_floor,
)
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.fall_bounds import SMALLEST_DROP

if TYPE_CHECKING:
    from ragsonde.regression.blocks import BlockCounts


def arm(
    counts: BlockCounts,
    *,
    is_complete: bool,
    smallest_drop: float = SMALLEST_DROP,
    floor: float | None = None,
) -> Baseline | None:
    """The baseline that a stream has by now; none while it cannot be watched yet.

    Pinned from 500 traces once its days are over. Before that, and below it, the user's floor, if there is
    one. Else, before the days are over, provisional from 1,000 traces that lie at least 24 hours apart.

    Args:
        counts: of the baseline's days, as far as they have gone.
        is_complete: whether these days are over.
        smallest_drop: the smallest one that matters.
        floor: a mean that scores should not be below, by the user.

    Raises:
        ValueError: `floor` is below .02 or above 1.
    """
    traces = counts.trace_count
    if is_complete and traces >= LEAST_PINNED:
        return fit_baseline(counts, smallest_drop=smallest_drop)
    if floor is not None:
        return make_floor(floor, counts)
    has_day = traces > 0 and counts.block[-1] - counts.block[0] >= BLOCKS_PER_DAY
    if not is_complete and traces >= LEAST_PROVISIONAL and has_day:
        return fit_baseline(counts, smallest_drop=smallest_drop, kind=BaselineKind.PROVISIONAL)
    return None
