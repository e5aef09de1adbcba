"""Evidence that a fallen stream is well again: the same bets in the mirror.

Bets on a mean above m, the level that the alert was raised against, summed over possible beginnings like
evidence of a fall. A stream that is still at m or below is called well about once in 30 days or less often.
A mean between m and the baseline resolves an alert; one that stays at m keeps it open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.regression.evidence import grow_blocks
from ragsonde.regression.threshold import RESOLVE_DAYS, find_log_blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts

LOG_RESOLVE = find_log_blocks(RESOLVE_DAYS)
"""log R in blocks at which an alert is resolved."""


def grow_recovery(counts: BlockCounts, baseline: Baseline) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """As `grow_blocks`, betting on a mean above the levels."""
    return grow_blocks(counts, baseline, is_rising=True)
