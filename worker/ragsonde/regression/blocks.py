"""Scores as counts: how many traces of which stratum scored what in which five minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.block_lengths import BLOCK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

BIN_COUNT = 101
_ROUNDING = 1e-9  # 0.07 * 100 is 7.000000000000001 in floating point, and belongs to bin 7


class ScoreOutOfRangeError(ValueError):
    """A value that is no score.

    Attributes:
        position: of the first such value, from 0.
        value: what was found there.
    """

    def __init__(self, *, position: int, value: float) -> None:
        self.position = position
        self.value = value
        super().__init__(
            f"value {value} at position {position}: a score from 0 to 1 was expected; leave it out"
        )


@dataclass(frozen=True, slots=True, eq=False)
class BlockCounts:
    """Counts of one stream, one row for each block, stratum and bin that has traces.

    Attributes:
        strata: names, which `stratum` counts from 0.
        block: int64 [rows], five minutes since the epoch, ascending.
        stratum: int64 [rows], ascending within a block.
        bin: int64 [rows], 0 to 100, ascending within a stratum; the value is a hundredth of it.
        count: int64 [rows], traces, each at least 1.
    """

    strata: tuple[str, ...]
    block: NDArray[np.int64]
    stratum: NDArray[np.int64]
    bin: NDArray[np.int64]
    count: NDArray[np.int64]

    @property
    def values(self) -> NDArray[np.float64]:
        """The score of each row."""
        return self.bin / (BIN_COUNT - 1)

    @property
    def trace_count(self) -> int:
        """All traces."""
        return int(self.count.sum())

    def between(self, first: int, end: int) -> BlockCounts:
        """The rows of blocks `first` to `end - 1`."""
        return self._take(slice(*np.searchsorted(self.block, [first, end]).tolist()))

    def without(self, stretches: Iterable[tuple[int, int]]) -> BlockCounts:
        """The rows of no block from the first of a stretch to before its end."""
        kept = np.ones(self.block.size, dtype=np.bool_)
        for first, end in stretches:
            kept &= (self.block < first) | (self.block >= end)
        return self._take(kept)

    def _take(self, rows: slice | NDArray[np.bool_]) -> BlockCounts:
        return BlockCounts(
            self.strata, self.block[rows], self.stratum[rows], self.bin[rows], self.count[rows]
        )


def find_bins(values: ArrayLike) -> NDArray[np.int64]:
    """The bin of each value, 0 to 100: rounded up, so that rounding never looks like a fall.

    Raises:
        ScoreOutOfRangeError: for a value below 0, above 1 or not finite.
    """
    scores = np.asarray(values, dtype=np.float64)
    is_bad = ~((scores >= 0) & (scores <= 1))
    if is_bad.any():
        position = int(np.argmax(is_bad))
        raise ScoreOutOfRangeError(position=position, value=float(scores[position]))
    bins: NDArray[np.int64] = np.ceil(scores * (BIN_COUNT - 1) - _ROUNDING).astype(np.int64)
    return bins


def find_block(seconds: float) -> int:
    """The block that a moment, in seconds since the epoch, lies in."""
    return int(seconds // BLOCK_SECONDS)


def count_blocks(
    seconds: ArrayLike,
    values: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    strata: Sequence[str] = ("",),
) -> BlockCounts:
    """Counts of traces, in whatever order they are given.

    Args:
        seconds: [traces], moments since the epoch.
        values: [traces], scores from 0 to 1.
        stratum: [traces], positions in `strata`; all in the first where it is left out.
        strata: names.

    Raises:
        ScoreOutOfRangeError: as `find_bins`.
    """
    bins = find_bins(values)
    block = (np.asarray(seconds, dtype=np.float64) // BLOCK_SECONDS).astype(np.int64)
    cell = np.zeros(bins.size, np.int64) if stratum is None else np.asarray(stratum, dtype=np.int64)
    return gather_counts(block, cell, bins, np.ones(bins.size, np.int64), strata=strata)


def gather_counts(
    block: ArrayLike, stratum: ArrayLike, bins: ArrayLike, count: ArrayLike, *, strata: Sequence[str]
) -> BlockCounts:
    """Counts from rows in any order; rows of the same block, stratum and bin are added up."""
    blocks, cells = np.asarray(block, dtype=np.int64), np.asarray(stratum, dtype=np.int64)
    places, numbers = np.asarray(bins, dtype=np.int64), np.asarray(count, dtype=np.int64)
    key = (blocks * len(strata) + cells) * BIN_COUNT + places
    if (key[1:] > key[:-1]).all():
        return BlockCounts(tuple(strata), blocks, cells, places, numbers)
    keys, place = np.unique(key, return_inverse=True)
    total = sum_by(place, numbers, size=keys.size)
    pairs, found_bins = np.divmod(keys, BIN_COUNT)
    found_blocks, found_strata = np.divmod(pairs, len(strata))
    return BlockCounts(tuple(strata), found_blocks, found_strata, found_bins, total.astype(np.int64))


def sum_by(place: NDArray[np.int64], weights: ArrayLike, *, size: int = 0) -> NDArray[np.float64]:
    """The sum of the weights at each place, for at least `size` places: [places]."""
    return np.asarray(np.bincount(place, weights=np.asarray(weights), minlength=size), dtype=np.float64)
