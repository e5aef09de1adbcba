"""Whether a fall is over: what scores are like since some time against what they were before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ragsonde.regression.explanation import INTERVAL_FACTOR
from ragsonde.regression.release_comparison import Verdict, compare_in_turn

if TYPE_CHECKING:
    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts


class Recovery(StrEnum):
    """How it stands with a fall."""

    RECOVERED = "recovered"
    NOT_YET = "not_yet"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True)
class Verification:
    """What scores are like since some time.

    Attributes:
        mean: of all of them; none of no trace.
        mean_lower, mean_upper: its interval, of 2.4 standard errors on each side, within 0 to 1. How well the
            baseline is known is not in it.
        drop: how much lower they are than traces of their own cell were; above 0 is lower.
        drop_lower, drop_upper: its interval, which holds the baseline's error too.
        traces: since then.
        traces_needed: about how many more until there is a verdict, if it stays as it is; none where nothing
            can be said.
    """

    recovery: Recovery
    mean: float | None
    mean_lower: float | None
    mean_upper: float | None
    drop: float | None
    drop_lower: float | None
    drop_upper: float | None
    traces: int
    traces_needed: int | None


_RECOVERIES = {
    Verdict.NOT_WORSE: Recovery.RECOVERED,
    Verdict.WORSE: Recovery.NOT_YET,
    Verdict.UNDECIDED: Recovery.TOO_FEW,
}


def verify_recovery(baseline: Baseline, counts: BlockCounts | None) -> Verification:
    """Whether the traces of `counts` are as those of the baseline were, less the smallest drop that matters.

    By `compare_in_turn`: recovered is said of a mean at or below the levels in 1 % of all histories at most,
    however often they are looked at, and likewise the other way round. Of histories that begin at one moment,
    which nobody chose by what came after it: another beginning is another chance to be wrong.
    """
    if counts is None or not counts.trace_count:
        return Verification(Recovery.TOO_FEW, None, None, None, None, None, None, 0, None)
    found = compare_in_turn(baseline, counts)
    n = counts.trace_count
    mean = float(counts.count @ counts.values / n)
    variance = float(counts.count @ (counts.values - mean) ** 2 / n)
    error = math.sqrt(max(variance, baseline.variance) * baseline.overdispersion / n)
    half = INTERVAL_FACTOR * error
    return Verification(
        recovery=_RECOVERIES[found.verdict],
        mean=mean,
        mean_lower=max(mean - half, 0.0),
        mean_upper=min(mean + half, 1.0),
        drop=found.drop,
        drop_lower=found.drop_lower,
        drop_upper=found.drop_upper,
        traces=n,
        traces_needed=found.traces_needed,
    )
