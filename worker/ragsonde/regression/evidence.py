"""Evidence that some moment of the past began a fall: Shiryaev and Roberts, one sum for each bet.

`L <- (L + 1) * exp(S)`, R the mean of the twelve. Under "every block's conditional mean is at least m" R less
the number of blocks is a supermartingale, so that R passes c, in blocks, once in c blocks on average or less
often: an e-detector (Shin, Ramdas and Rinaldo, E-detectors: a nonparametric framework for sequential change
detection, NEJSDS 2, 2024; Shiryaev 1963; Roberts 1966). Proved of `S` as the bets are made. Two steps are
measured rather than proved: dividing S by phi, which takes in sessions and wander (for independent traces it
only weakens the bets: exp(S / phi) has expectation at most 1 by Jensen), and the baseline's own error, which
2 standard errors stand for. Capping S from above only makes R smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.bets import STAKES, grow_logs
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts

LEAST_BLOCKS = 4
"""From rest so many blocks are needed to pass a threshold: what lasts ten minutes touches three."""


def start_evidence(streams: int) -> NDArray[np.float64]:
    """The logs of the bets of streams at rest: [streams, 12], all -inf."""
    return np.full((streams, STAKES.size), -np.inf)


def advance_evidence(
    log_bets: NDArray[np.float64],
    growth: NDArray[np.float64],
    *,
    has_traces: NDArray[np.bool_],
    log_threshold: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """The logs of the bets after one more block of each stream: [streams, 12].

    Args:
        log_bets: [streams, 12], before it.
        growth: [streams, 12], S of the block, tempered.
        has_traces: [streams]; a block without traces changes nothing.
        log_threshold: of a page, in blocks; growth is capped at a fourth of it.
    """
    capped = np.minimum(growth, np.asarray(log_threshold)[..., None] / LEAST_BLOCKS)
    return np.where(has_traces[:, None], np.logaddexp(log_bets, 0.0) + capped, log_bets)


def sum_evidence(log_bets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log R, in blocks, of each stream: [streams]; -inf at rest."""
    highest = log_bets.max(axis=-1)
    finite = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        result: NDArray[np.float64] = finite + np.log(np.exp(log_bets - finite[..., None]).mean(axis=-1))
    return result


def count_evidence_days(log_evidence: float) -> float:
    """R as days: chance alone would show this about once in so many; capped at a thousand million."""
    return float(min(np.exp(min(log_evidence, 60.0)) / BLOCKS_PER_DAY, 1e9))


def grow_blocks(
    counts: BlockCounts, baseline: Baseline, *, is_rising: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The blocks that have traces in watched cells, ascending, and S of each, tempered: [blocks, 12]."""
    cell = baseline.cells.assign(counts)
    is_used = baseline.is_watched[cell]
    block, cell = counts.block[is_used], cell[is_used]
    if not block.size:
        return block, np.zeros((0, STAKES.size))
    rows = grow_logs(
        counts.values[is_used], counts.count[is_used], baseline.levels[cell], is_rising=is_rising
    )
    starts = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
    return block[starts], np.add.reduceat(rows, starts, axis=0) / baseline.overdispersion
