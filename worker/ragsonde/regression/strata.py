"""Which traces are compared with which: cells, each with a baseline mean of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.block_lengths import BLOCKS_PER_HOUR
from ragsonde.regression.blocks import sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragsonde.regression.blocks import BlockCounts

MOST_STRATA = 8
LEAST_TRACES = 1_000
REST = "(rest)"
HOURS = tuple(f"{hour:02}:00" for hour in range(24))


@dataclass(frozen=True, slots=True)
class Cells:
    """A way to tell traces apart whose scores differ without anything being wrong.

    Attributes:
        names: of the cells: strata with `REST` as the last, or the 24 hours of the day in UTC.
        is_by_hour: whether they are hours.
    """

    names: tuple[str, ...]
    is_by_hour: bool

    def assign(self, counts: BlockCounts) -> NDArray[np.int64]:
        """The cell of each row of `counts`; strata that have no cell of their own are in the rest."""
        if self.is_by_hour:
            return counts.block // BLOCKS_PER_HOUR % len(HOURS)
        rest = len(self.names) - 1
        position = {name: place for place, name in enumerate(self.names[:rest])}
        cell_of = np.array([position.get(name, rest) for name in counts.strata], dtype=np.int64)
        return cell_of[counts.stratum]


BY_HOUR = Cells(HOURS, is_by_hour=True)


def choose_cells(counts: BlockCounts) -> Cells:
    """The largest strata, at most 8, with at least 1,000 traces each, and the rest; else hours of the day.

    One stratum that holds all traces tells nothing apart: then it is hours too.
    """
    traces = sum_by(counts.stratum, counts.count, size=len(counts.strata))
    order = sorted(range(traces.size), key=lambda place: (-traces[place], counts.strata[place]))
    chosen = [place for place in order if traces[place] >= LEAST_TRACES][:MOST_STRATA]
    if not chosen or np.count_nonzero(traces) == 1:
        return BY_HOUR
    return Cells((*(counts.strata[place] for place in chosen), REST), is_by_hour=False)
