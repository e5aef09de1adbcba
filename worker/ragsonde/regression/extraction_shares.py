"""Whether the fields of traces are found by other rules than a day ago: then scores are of other texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.block_lengths import BLOCKS_PER_DAY, BLOCKS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LARGEST_MOVE = 0.10
"""Of the share of a field's traces; below it verdicts are not held."""
FEWEST_TRACES = 20
MEMORY_BLOCKS = BLOCKS_PER_DAY + BLOCKS_PER_HOUR
"""Before a block, what has to be known of it to tell whether rules have moved."""
_STANDARD_ERRORS = 3.0


class Rule(NamedTuple):
    """A rule by which a field is found."""

    field: str
    name: str


class Move(NamedTuple):
    """How the share of a rule has moved among the traces that have its field."""

    rule: Rule
    before: float
    after: float

    @property
    def size(self) -> float:
        """How far, up or down."""
        return abs(self.after - self.before)


@dataclass(slots=True)
class ExtractionShares:
    """By which rules fields were found, block by block, of one app and environment.

    Attributes:
        rules: names, which the columns count from 0.
        block: int64 [rows], ascending.
        count: int64 [rows, rules], traces.
    """

    rules: tuple[Rule, ...]
    block: NDArray[np.int64]
    count: NDArray[np.int64]
    _sums: NDArray[np.int64] = field(init=False)
    _moved: dict[int, Move | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        start = np.zeros((1, len(self.rules)), np.int64)
        self._sums = np.concatenate([start, self.count.cumsum(axis=0, dtype=np.int64)])

    def find_move(self, block: int) -> Move | None:
        """The largest move in the hour that ends with a block, beyond 10 points and chance; None: none.

        The hour is compared with the day before it, and with the same hour a day ago where that has enough
        traces: a rule that is used by night alone has not moved. One that stays is the usual one a day later.
        """
        if block not in self._moved:
            moves = self._list_moves(block)
            self._moved[block] = min(moves, key=_rank, default=None)
        return self._moved[block]

    def _list_moves(self, block: int) -> list[Move]:
        hour = self._count(block + 1 - BLOCKS_PER_HOUR, block + 1)
        day = self._count(block + 1 - MEMORY_BLOCKS, block + 1 - BLOCKS_PER_HOUR)
        moves = list_moves(self.rules, day, hour)
        if not moves:
            return []
        end = block + 1 - BLOCKS_PER_DAY
        same_hour = self._count(end - BLOCKS_PER_HOUR, end)
        totals = _add_up(self.rules, same_hour)
        moved = {one.rule for one in list_moves(self.rules, same_hour, hour)}
        return [one for one in moves if one.rule in moved or totals.get(one.rule.field, 0) < FEWEST_TRACES]

    def _count(self, first: int, end: int) -> NDArray[np.int64]:
        begin, stop = np.searchsorted(self.block, [first, end])
        return np.asarray(self._sums[stop] - self._sums[begin], dtype=np.int64)


def gather_shares(rows: Mapping[int, Mapping[str, Mapping[str, int]]]) -> ExtractionShares:
    """Of counts by block, field and rule."""
    rules = sorted({Rule(name, rule) for counts in rows.values() for name in counts for rule in counts[name]})
    place = {rule: position for position, rule in enumerate(rules)}
    blocks = sorted(rows)
    count = np.zeros((len(blocks), len(rules)), np.int64)
    for row, block in enumerate(blocks):
        for name, by_rule in rows[block].items():
            for rule, n in by_rule.items():
                count[row, place[Rule(name, rule)]] = n
    return ExtractionShares(tuple(rules), np.array(blocks, dtype=np.int64), count)


def list_moves(rules: tuple[Rule, ...], before: NDArray[np.int64], after: NDArray[np.int64]) -> list[Move]:
    """The rules whose share has moved by more than 10 points and what chance moves, the largest first.

    Args:
        rules: in the order of the counts.
        before: traces of each rule; a field with fewer than 20 is left out.
        after: likewise.
    """
    totals = _add_up(rules, before), _add_up(rules, after)
    moves = []
    for rule, earlier, later in zip(rules, before.tolist(), after.tolist(), strict=True):
        n_before, n_after = (total[rule.field] for total in totals)
        if min(n_before, n_after) < FEWEST_TRACES:
            continue
        move = Move(rule, earlier / n_before, later / n_after)
        usual = (earlier + 1) / (n_before + 2)
        error = (usual * (1 - usual) * (1 / n_before + 1 / n_after)) ** 0.5
        if move.size > LARGEST_MOVE + _STANDARD_ERRORS * error:
            moves.append(move)
    return sorted(moves, key=_rank)


def _rank(move: Move) -> tuple[float, float, Rule]:
    """The largest first; of one rule in another's place that which is used more now."""
    return -round(move.size, 9), move.before - move.after, move.rule


def _add_up(rules: tuple[Rule, ...], counts: NDArray[np.int64]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for rule, n in zip(rules, counts.tolist(), strict=True):
        totals[rule.field] = totals.get(rule.field, 0) + n
    return totals
