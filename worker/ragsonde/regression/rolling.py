"""A baseline that moves along: the seven days that ended a day ago.

For apps whose scores change by intent so often that a pinned baseline is soon of another product. It finds
sudden falls and seldom slow ones, as it follows them down: `make bench-detector` measures both. So it
warns and never pages.

The day in between keeps a fall out of what it is compared with until it was told. Blocks of falls that were
told are left out, from a day before they were told to their end, and while one is open the baseline stays
as it is: else a fall that lasts would become normal, and its end no recovery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PINNED, Baseline, BaselineKind, fit_baseline
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.fall_bounds import SMALLEST_DROP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.regression.blocks import BlockCounts

GAP_DAYS = 1
SPAN_DAYS = BASELINE_DAYS + GAP_DAYS


class Window(NamedTuple):
    """Blocks `since` to `until - 1`."""

    since: int
    until: int


def find_window(day_start: int, *, begun: int) -> Window:
    """Whose traces a day is compared with, given its first block and that of the stream.

    On the first day after the stream's first week it is that week.
    """
    until = max(day_start - GAP_DAYS * BLOCKS_PER_DAY, begun + BASELINE_DAYS * BLOCKS_PER_DAY)
    return Window(max(begun, until - BASELINE_DAYS * BLOCKS_PER_DAY), until)


def find_fallen(opened: int, closed: int) -> tuple[int, int]:
    """The blocks of a fall that was told at the end of block `opened` and ended with block `closed`."""
    return opened - BLOCKS_PER_DAY, closed + 1


def roll(
    counts: BlockCounts,
    window: Window,
    *,
    fallen: Iterable[tuple[int, int]],
    smallest_drop: float = SMALLEST_DROP,
) -> Baseline | None:
    """The baseline of a window; none below 500 traces: then the one before stays.

    Args:
        counts: that span the window.
        window: as `find_window` gives it.
        fallen: first block and end of what is left out.
        smallest_drop: the smallest one that matters.
    """
    kept = counts.between(window.since, window.until).without(fallen)
    if kept.trace_count < LEAST_PINNED:
        return None
    return fit_baseline(kept, smallest_drop=smallest_drop, kind=BaselineKind.ROLLING)
