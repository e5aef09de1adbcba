"""Page-Hinkley and ADWIN as river has them, where river is installed: `pip install river`.

It is no dependency of the project: it brings SciPy and pandas, for two columns of a table. Both are given
traces one by one, with river's own defaults; they count as fired when the mean has fallen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from score_streams import DAY
from usual_rules import WEEK

try:
    from river.drift import ADWIN, PageHinkley
except ImportError:
    ADWIN = PageHinkley = None

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from score_streams import Stream

IS_THERE = ADWIN is not None


def page_hinkley(stream: Stream) -> NDArray[np.float64]:
    """Seconds at which Page-Hinkley fires on a fall, after the first week."""
    rule = PageHinkley(mode="down")
    fired = []
    for second, score in zip(stream.seconds.tolist(), stream.score.tolist(), strict=True):
        rule.update(score)
        if rule.drift_detected:
            fired.append(second)
    return _after_week(fired)


def adwin(stream: Stream) -> NDArray[np.float64]:
    """Seconds at which ADWIN's window shrinks to a lower mean, after the first week."""
    rule = ADWIN()
    fired, before = [], 0.0
    for second, score in zip(stream.seconds.tolist(), stream.score.tolist(), strict=True):
        rule.update(score)
        if rule.drift_detected and rule.estimation < before:
            fired.append(second)
        before = rule.estimation
    return _after_week(fired)


RULES = {"Page-Hinkley": page_hinkley, "ADWIN": adwin}


def _after_week(fired: list[float]) -> NDArray[np.float64]:
    seconds = np.array(fired)
    return seconds[seconds >= WEEK * DAY]
