"""Whether a release scores worse than another: side by side, or one after the other. At any time.

Side by side: the asymptotic confidence sequence of a difference of means, one-sided (Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of
Statistics 52, 2024). Its coverage is that of the central limit theorem, at all times at once; for few traces
it is measured rather than proved, so that nothing is said before 50 traces on each side.

One after the other: the stream wanders from day to day, which no confidence sequence of two means knows
(measured with the prototype: 33 % false). So the new release's traces bet against the old release's levels,
which allow for the smallest drop that matters and the baseline's error; the product of the bets is an
e-process, and passes 1 / alpha with a probability of at most alpha (Ville 1939) while the mean is above them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.blocks import sum_by
from ragsonde.regression.dispersion import measure_variance
from ragsonde.regression.evidence import grow_blocks, sum_evidence
from ragsonde.regression.explanation import INTERVAL_FACTOR
from ragsonde.regression.fall_bounds import SMALLEST_DROP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts

ALPHA = 0.01
LEAST_TRACES = 50
_TUNED_FOR = 500
"""Traces in all at which the sequence is narrowest: a fall of .10 is found by then."""
_MOST = 10_000_000


class Verdict(StrEnum):
    """What is known of the new release."""

    NOT_WORSE = "not_worse"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ReleaseComparison:
    """A new release beside an old one.

    Attributes:
        verdict: worse: its mean is lower; not worse: it is not lower by the smallest drop that matters.
        drop: how much lower the new one scores, trace beside trace of the same cell; above 0 is worse.
        drop_lower: end of its interval.
        drop_upper: end of its interval.
        traces_old: of the old release that were compared.
        traces_new: of the new release that were compared.
        traces_needed: about how many more of the new release until there is a verdict, if the drop stays as
            it is now; 0 where there is one, none where so many could never be had or nothing can be said yet.
    """

    verdict: Verdict
    drop: float
    drop_lower: float
    drop_upper: float
    traces_old: int
    traces_new: int
    traces_needed: int | None


def compare_side_by_side(
    old: BlockCounts,
    new: BlockCounts,
    *,
    overdispersion: float,
    smallest_drop: float = SMALLEST_DROP,
    alpha: float = ALPHA,
) -> ReleaseComparison:
    """Two releases that serve traffic of the same time.

    Strata are compared each with itself and weighted by how much is known of both (Cochran 1954).

    Args:
        old: its traces of that time.
        new: its traces of that time; strata of the same names.
        overdispersion: phi of sessions, which are within a release: `clustering` of a baseline. Wander of the
            whole stream is common to both and leaves no trace in the difference.
        smallest_drop: the smallest one that matters.
        alpha: how likely a wrong bound may be, each way, over all times of asking.
    """
    names = sorted({*old.strata, *new.strata})
    n_old, sum_old, square_old = _sum_strata(old, names)
    n_new, sum_new, square_new = _sum_strata(new, names)
    traces_old, traces_new = int(n_old.sum()), int(n_new.sum())
    weights = n_old * n_new / np.maximum(n_old + n_new, 1)
    if min(traces_old, traces_new) < LEAST_TRACES or weights.sum() == 0:
        return ReleaseComparison(Verdict.UNDECIDED, 0.0, -1.0, 1.0, traces_old, traces_new, None)
    drops = sum_old / np.maximum(n_old, 1) - sum_new / np.maximum(n_new, 1)
    drop = float(weights @ drops / weights.sum())
    within = square_old - sum_old**2 / np.maximum(n_old, 1) + square_new - sum_new**2 / np.maximum(n_new, 1)
    freedom = max(traces_old + traces_new - int(np.count_nonzero(n_old) + np.count_nonzero(n_new)), 1)
    spread = max(float(within.sum()) / freedom, 1 / (traces_old + traces_new)) * overdispersion
    known = float(weights.sum())
    half = find_half_width(known, spread=spread, alpha=alpha)
    verdict = _judge(drop, half, smallest_drop=smallest_drop)
    share = known / traces_new
    needed = _find_needed(
        drop, known=known, share=share, spread=spread, alpha=alpha, smallest_drop=smallest_drop
    )
    return ReleaseComparison(
        verdict,
        drop,
        max(drop - half, -1.0),
        min(drop + half, 1.0),
        traces_old,
        traces_new,
        0 if verdict is not Verdict.UNDECIDED else needed,
    )


def find_half_width(known: float, *, spread: float, alpha: float) -> float:
    """How far the difference may be off to one side, at all times at once.

    The one-sided sequence of Waudby-Smith et al., a mixture over a half-normal distribution, with
    t = `known` / `spread`, the information in the difference, in place of a number of traces of variance 1.
    """
    information = known / spread
    log_alpha = -2 * math.log(2 * alpha)
    rho_square = (log_alpha + math.log(log_alpha) + 1) / (_TUNED_FOR / 4 / spread)
    grown = information * rho_square + 1
    return math.sqrt(2 * grown / (information**2 * rho_square) * math.log1p(math.sqrt(grown) / (2 * alpha)))


def compare_in_turn(old: Baseline, new: BlockCounts, *, alpha: float = ALPHA) -> ReleaseComparison:
    """A new release against what the old one was like before it.

    Worse: its mean is below the old levels, that is, lower by more than the smallest drop that matters and
    the baseline's error. Not worse: it is above them.

    Args:
        old: baseline of the old release's traces, fitted with the smallest drop that matters.
        new: the new release's traces.
        alpha: how likely a wrong verdict may be, each way, over all times of asking.
    """
    traces = new.trace_count
    _, growth = grow_blocks(new, old)
    if not growth.size:
        return ReleaseComparison(Verdict.UNDECIDED, 0.0, -1.0, 1.0, old.trace_count, traces, None)
    _, rising = grow_blocks(new, old, is_rising=True)
    needed = -math.log(alpha)
    against, in_favour = (_find_peak(bets) for bets in (growth, rising))
    verdict = Verdict.UNDECIDED
    if max(against, in_favour) >= needed:
        verdict = Verdict.WORSE if against >= in_favour else Verdict.NOT_WORSE
    drop, half = _measure_drop(old, new)
    now = max(float(sum_evidence(bets.sum(axis=0))) for bets in (growth, rising))
    more = math.ceil(traces * (needed - now) / now) if now > 0 else None
    return ReleaseComparison(
        verdict,
        drop,
        max(drop - half, -1.0),
        min(drop + half, 1.0),
        old.trace_count,
        traces,
        0 if verdict is not Verdict.UNDECIDED else more,
    )


def _find_peak(growth: NDArray[np.float64]) -> float:
    """The largest log of the mean of the bets at any block so far: a verdict once reached stands."""
    return float(sum_evidence(np.cumsum(growth, axis=0)).max())


def _measure_drop(old: Baseline, new: BlockCounts) -> tuple[float, float]:
    """The new traces' mean loss against their own cells, and half of its interval."""
    cell, size = old.cells.assign(new), old.means.size
    traces = sum_by(cell, new.count, size=size)
    drop = float(new.count @ (old.means[cell] - new.values) / new.trace_count)
    return drop, INTERVAL_FACTOR * old.find_error(traces, variance=measure_variance(new, cell, size=size))


def _sum_strata(
    counts: BlockCounts, names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Traces, sum of scores and sum of squares of each stratum of `names`."""
    place = np.array([names.index(name) for name in counts.strata], dtype=np.int64)[counts.stratum]
    traces, total, square = (
        sum_by(place, counts.count * counts.values**power, size=len(names)) for power in (0, 1, 2)
    )
    return traces, total, square


def _judge(drop: float, half: float, *, smallest_drop: float) -> Verdict:
    if drop + half < smallest_drop:
        return Verdict.NOT_WORSE
    return Verdict.WORSE if drop - half > 0 else Verdict.UNDECIDED


def _find_needed(
    drop: float, *, known: float, share: float, spread: float, alpha: float, smallest_drop: float
) -> int | None:
    """How many more traces of the new release there must be until `_judge` says something.

    Args:
        drop: taken to stay as it is.
        known: information so far, in traces.
        share: information a trace of the new release.
        spread: variance of a trace, times phi.
        alpha: as there.
        smallest_drop: as there.
    """
    factor = 1.0
    while known * factor < _MOST:
        half = find_half_width(known * factor, spread=spread, alpha=alpha)
        if _judge(drop, half, smallest_drop=smallest_drop) is not Verdict.UNDECIDED:
            return math.ceil(known * (factor - 1) / share)
        factor *= 1.05
    return None
