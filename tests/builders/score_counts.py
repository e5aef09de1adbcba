"""Counts of made-up scores, without anything awkward about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.block_lengths import BLOCK_SECONDS, BLOCKS_PER_DAY
from ragsonde.regression.blocks import count_blocks, gather_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.regression.blocks import BlockCounts


def make_counts(
    *,
    days: float,
    per_block: int,
    mean: float = 0.8,
    strata: Sequence[str] = ("",),
    first_day: float = 0,
    seed: int = 0,
) -> BlockCounts:
    """So many traces in every block, strata in turn; independent scores of 0, 1/2 and 1 with that mean."""
    random = np.random.default_rng(seed)
    size = int(days * BLOCKS_PER_DAY) * per_block
    block = np.repeat(np.arange(int(days * BLOCKS_PER_DAY)), per_block) + int(first_day * BLOCKS_PER_DAY)
    scores = random.binomial(2, mean, size) / 2
    return count_blocks(
        block * BLOCK_SECONDS + 1.0, scores, stratum=np.arange(size) % len(strata), strata=strata
    )


def join_counts(*parts: BlockCounts) -> BlockCounts:
    """All of them; strata of the same names."""
    columns = (
        np.concatenate([getattr(part, column) for part in parts])
        for column in ("block", "stratum", "bin", "count")
    )
    return gather_counts(*columns, strata=parts[0].strata)
