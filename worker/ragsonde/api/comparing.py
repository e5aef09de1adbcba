"""Two sides over the same traces: means, paired change, how many moved, and which moved most."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

from ragsonde.api.moments import Shift

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.storage.score_pairs import Pair

MOVED = 0.02
"""A change of the raw score beyond this counts as moved: the smallest that matters to the alerts."""
MOST_CHANGED = 5
_DIGITS = 6
"""A change of .02 between floats is not exactly .02."""


@dataclass(kw_only=True)
class ScorerComparison:
    """One scorer's scores by both sides; it grows as pairs come.

    Attributes:
        shift: means of both sides and of the change, over traces that both have scored.
        moved: pairs whose raw score changed by more than 0.02.
    """

    shift: Shift = field(default_factory=Shift)
    moved: int = 0
    _most: list[tuple[float, str, str, Pair]] = field(default_factory=list)

    @property
    def share_moved(self) -> float | None:
        """0..1; None without any pair."""
        n = self.shift.change.summarise().n
        return self.moved / n if n else None

    @property
    def most_changed(self) -> tuple[Pair, ...]:
        """The pairs that moved most, the widest first."""
        return tuple(pair for *_, pair in sorted(self._most, key=lambda one: (-one[0], one[1:3])))

    def add(self, pair: Pair) -> None:
        """Takes in one more."""
        change = round(abs(pair.new - pair.old), _DIGITS)
        self.shift.add(pair.old, pair.new)
        if change <= MOVED:
            return
        self.moved += 1
        entry = (change, pair.trace_id, pair.app, pair)
        if len(self._most) < MOST_CHANGED:
            heappush(self._most, entry)
        else:
            heappushpop(self._most, entry)


def compare_pairs(pairs: Iterable[Pair]) -> dict[str, ScorerComparison]:
    """By scorer, what came of all pairs."""
    compared: dict[str, ScorerComparison] = {}
    for pair in pairs:
        compared.setdefault(pair.scorer, ScorerComparison()).add(pair)
    return dict(sorted(compared.items()))
