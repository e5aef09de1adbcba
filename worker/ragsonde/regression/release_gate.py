"""Which traces of two releases may be compared, and how: what stands before the comparison itself.

Releases that serve in the same hours are compared side by side, each hour with itself: a rollout that gets a
larger share by day than by night is not taken for better or worse. Only traces of such hours count. Where
most of the new release's traces have none of the old one beside them, it is held to what the old one was like
before. Which of the two depends on when traces came and never on their scores; a gate that changes from one
to the other has the chance of a wrong verdict of both.

Strata are what was known before the release answered. How many contexts there are or which head spoke is the
work of the release: compared within these, one that finds fewer contexts would have nothing beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.arming import arm
from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PINNED, fit_baseline
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY, BLOCKS_PER_HOUR
from ragsonde.regression.blocks import BlockCounts, gather_counts
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.release_comparison import (
    ALPHA,
    LEAST_TRACES,
    ReleaseComparison,
    Verdict,
    compare_in_turn,
    compare_side_by_side,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

MOST_FAILED_APART = 0.10
"""Shares of failed judgements that differ by more make means of what is left incomparable."""
CELL_TRACES = 10
"""So many traces of both releases an average cell should hold: hours with fewer are put together."""
_SPANS = (BLOCKS_PER_HOUR, 6 * BLOCKS_PER_HOUR, BLOCKS_PER_DAY)


class Way(StrEnum):
    """How two releases were compared."""

    SIDE_BY_SIDE = "side_by_side"
    IN_TURN = "in_turn"


class Model(NamedTuple):
    """What gave a score: only scores of the same are compared."""

    version: str
    fingerprint: str
    epoch: int


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseScores:
    """What a release's traces scored under one scorer and judge.

    Attributes:
        counts: by what gave them, each with at least one trace; of all of one comparison, strata of the same
            names.
        failed: traces that should have a score and have none.
    """

    counts: Mapping[Model, BlockCounts]
    failed: int = 0

    @property
    def trace_count(self) -> int:
        """All that are scored."""
        return sum(counts.trace_count for counts in self.counts.values())

    @property
    def failed_share(self) -> float:
        """Of all that should have a score; 0 where there are none."""
        return self.failed / max(1, self.failed + self.trace_count)


@dataclass(frozen=True, slots=True)
class GatedRelease:
    """A comparison under one scorer and judge.

    Attributes:
        comparison: undecided where nothing may be compared.
        way: None where nothing was.
        why: what was compared and for what reason, or why nothing was: a sentence's end.
        model: that gave the compared scores; None where the new release has none.
    """

    comparison: ReleaseComparison
    way: Way | None
    why: str
    model: Model | None

    @property
    def has_drop(self) -> bool:
        """Whether the comparison's drop is a measured one."""
        is_known = (self.comparison.drop_lower, self.comparison.drop_upper) != (-1.0, 1.0)
        return self.way is not None and is_known


def gate_release(
    old: ReleaseScores, new: ReleaseScores, *, smallest_drop: float = SMALLEST_DROP, alpha: float = ALPHA
) -> GatedRelease:
    """Whether the new release is worse under one scorer and judge, of what may be compared.

    Undecided without a look at the scores where another model or version gave most of the new release's, or
    where the shares of failed judgements differ by more than .10.

    Args:
        old: of the release that is known.
        new: of the one that is not.
        smallest_drop: the smallest one that matters.
        alpha: how likely a wrong verdict may be, each way, over all times of asking.
    """
    if not new.counts:
        return _leave_open(old, new, "the new release has no score yet")
    model = max(new.counts, key=lambda one: (new.counts[one].trace_count, one))
    if not old.counts:
        return _leave_open(old, new, "the old release has no score in this time", model=model)
    if model not in old.counts:
        return _leave_open(
            old,
            new,
            "the judge or the scorer changed between the releases: no score of the old one is by what scores "
            "the new one",
            model=model,
        )
    if abs(new.failed_share - old.failed_share) > MOST_FAILED_APART:
        failed = (
            f"{new.failed_share:.0%} of the new release's judgements failed, {old.failed_share:.0%} of the "
            "old one's: what is left cannot be compared"
        )
        return _leave_open(old, new, failed, model=model)
    before, after = old.counts[model], new.counts[model]
    shared = np.intersect1d(before.block // BLOCKS_PER_HOUR, after.block // BLOCKS_PER_HOUR)
    beside = _take_hours(after, shared)
    if 2 * beside.trace_count >= after.trace_count:
        return _gate_beside(before, after, shared, model, smallest_drop=smallest_drop, alpha=alpha)
    return _gate_in_turn(before, after, model, smallest_drop=smallest_drop, alpha=alpha)


def find_strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Worse if one is; else undecided if one is or there is none; else not worse."""
    found = set(verdicts)
    for verdict in (Verdict.WORSE, Verdict.UNDECIDED):
        if verdict in found:
            return verdict
    return Verdict.NOT_WORSE if found else Verdict.UNDECIDED


def measure_clustering(counts: BlockCounts) -> float:
    """How much more means vary as traces of a session are alike: phi, at least 1.

    Of blocks of five minutes; 1 where all score alike. Where most traces lie in blocks with fewer than 5,
    which show no sessions, phi of hours, which takes in more.
    """
    baseline = fit_baseline(counts)
    _, place = np.unique(counts.block, return_inverse=True)
    traces = np.bincount(place, weights=counts.count)
    is_dense = 2 * traces[traces >= 5].sum() >= traces.sum()  # noqa: PLR2004 - as `dispersion.LEAST_TRACES`
    return baseline.clustering if is_dense else max(baseline.clustering, baseline.overdispersion)


def _gate_beside(
    before: BlockCounts,
    after: BlockCounts,
    shared: NDArray[np.int64],
    model: Model,
    *,
    smallest_drop: float,
    alpha: float,
) -> GatedRelease:
    sides = [_take_hours(counts, shared) for counts in (before, after)]
    span = _choose_span(*sides)
    comparison = compare_side_by_side(
        *(_part_by_time(side, span) for side in sides),
        overdispersion=measure_clustering(before),
        smallest_drop=smallest_drop,
        alpha=alpha,
    )
    hours = f"{shared.size} hour{'' if shared.size == 1 else 's'}"
    why = f"both had traces in the same {hours}, which are compared"
    if min(side.trace_count for side in sides) < LEAST_TRACES:
        why += f"; nothing is said before {LEAST_TRACES} traces of each"
    return GatedRelease(comparison, Way.SIDE_BY_SIDE, why, model)


def _gate_in_turn(
    before: BlockCounts, after: BlockCounts, model: Model, *, smallest_drop: float, alpha: float
) -> GatedRelease:
    first = int(after.block[0])
    past = before.between(int(before.block[0]), first)
    days = (first - int(past.block[0])) / BLOCKS_PER_DAY if past.trace_count else 0.0
    baseline = arm(past, is_complete=days >= BASELINE_DAYS, smallest_drop=smallest_drop)
    why = "most traces of the new release came while the old one had none"
    if baseline is None:
        why += (
            f", and before it the old one had {past.trace_count:,} in {days:.1f} days: "
            f"expected {LEAST_PINNED} in {BASELINE_DAYS} days"
        )
        return GatedRelease(_know_nothing(before, after), None, why, model)
    why += f": held to the old one's {past.trace_count:,} traces of the {days:.1f} days before it"
    return GatedRelease(compare_in_turn(baseline, after, alpha=alpha), Way.IN_TURN, why, model)


def _leave_open(
    old: ReleaseScores, new: ReleaseScores, why: str, *, model: Model | None = None
) -> GatedRelease:
    nothing = ReleaseComparison(Verdict.UNDECIDED, 0.0, -1.0, 1.0, old.trace_count, new.trace_count, None)
    return GatedRelease(nothing, None, why, model)


def _know_nothing(old: BlockCounts, new: BlockCounts) -> ReleaseComparison:
    return ReleaseComparison(Verdict.UNDECIDED, 0.0, -1.0, 1.0, old.trace_count, new.trace_count, None)


def _take_hours(counts: BlockCounts, hours: NDArray[np.int64]) -> BlockCounts:
    rows = np.isin(counts.block // BLOCKS_PER_HOUR, hours)
    columns = (counts.block, counts.stratum, counts.bin, counts.count)
    return BlockCounts(counts.strata, *(column[rows] for column in columns))


def _choose_span(old: BlockCounts, new: BlockCounts) -> int:
    """The shortest of an hour, six and a day, in blocks, in which an average cell holds enough traces."""
    traces = old.trace_count + new.trace_count
    for span in _SPANS[:-1]:
        cells = {
            pair
            for side in (old, new)
            for pair in zip((side.block // span).tolist(), side.stratum.tolist(), strict=True)
        }
        if traces >= CELL_TRACES * len(cells):
            return span
    return _SPANS[-1]


def _part_by_time(counts: BlockCounts, span: int) -> BlockCounts:
    """The same traces, each span of time a stratum of its own beside those that there are."""
    times, place = np.unique(counts.block // span, return_inverse=True)
    names = [f"{time} {name}" for time in times.tolist() for name in counts.strata]
    stratum = place * len(counts.strata) + counts.stratum
    return gather_counts(counts.block, stratum, counts.bin, counts.count, strata=names)
