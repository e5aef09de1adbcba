"""The rules that people write instead, on the same streams: when each would have fired.

Each looks at the last hour, every five minutes, if that has 20 traces, and fires when it begins to hold.
None knows of strata or of the time of day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from score_streams import DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from score_streams import Stream

    Floats = NDArray[np.float64]

BLOCK, HOUR_BLOCKS, LEAST, WEEK = 300, 12, 20, 7
STATIC_DROP, RATIO, Z = 0.05, 1.5, 3.0


class HourlyFigures:
    """Of the hour that ends with each block: traces, mean, share below .5; and the same of the first week."""

    def __init__(self, stream: Stream, days: float) -> None:
        blocks = int(days * DAY / BLOCK)
        block = (stream.seconds // BLOCK).astype(int)
        self.traces = _over_hour(np.bincount(block, minlength=blocks))
        self.mean = _over_hour(np.bincount(block, stream.score, blocks)) / np.maximum(self.traces, 1)
        self.low = _over_hour(np.bincount(block, stream.score < 0.5, blocks)) / np.maximum(self.traces, 1)
        week = stream.score[stream.seconds < WEEK * DAY]
        self.week_mean, self.week_spread = float(week.mean()), float(week.std())
        self.week_low = float((week < 0.5).mean())
        self.is_watched = (self.traces >= LEAST) & (np.arange(blocks) >= WEEK * 288 + HOUR_BLOCKS)


def static(figures: HourlyFigures, *, drop: float = STATIC_DROP) -> Floats:
    """The hour's mean is .05 below the week's."""
    return _find_firings(figures, figures.mean < figures.week_mean - drop)


def ratio(figures: HourlyFigures) -> Floats:
    """The hour's share of scores below .5 is half as large again as the week's."""
    return _find_firings(figures, figures.low > RATIO * figures.week_low)


def z_score(figures: HourlyFigures) -> Floats:
    """The hour's mean is 3 standard errors of independent traces below the week's."""
    error = figures.week_spread / np.sqrt(np.maximum(figures.traces, 1))
    return _find_firings(figures, figures.mean < figures.week_mean - Z * error)


RULES: dict[str, Callable[[HourlyFigures], Floats]] = {
    "static": static,
    "ratio": ratio,
    "z-score": z_score,
}


def find_quiet_drop(figures: list[HourlyFigures]) -> float:
    """The smallest drop by which the static rule stays silent on all these streams."""
    return max(float((one.week_mean - one.mean[one.is_watched]).max()) for one in figures)


def _over_hour(of_blocks: NDArray[np.float64]) -> Floats:
    total = np.concatenate([np.zeros(HOUR_BLOCKS), np.cumsum(of_blocks)])
    return total[HOUR_BLOCKS:] - total[:-HOUR_BLOCKS]


def _find_firings(figures: HourlyFigures, holds: NDArray[np.bool_]) -> Floats:
    """Seconds at which the rule begins to hold."""
    holds = holds & figures.is_watched
    begins = holds & ~np.concatenate([[False], holds[:-1]])
    return (np.flatnonzero(begins) + 1.0) * BLOCK
