"""Stored counts of blocks, as the detector takes them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.blocks import BIN_COUNT, BlockCounts, gather_counts
from ragsonde.regression.watched_stream import Outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ragsonde.storage.score_blocks import BlockRows

NOTHING = gather_counts([], [], [], [], strata=("",))


def count_rows(rows: BlockRows) -> dict[int, tuple[BlockCounts, dict[int, Outcomes]]]:
    """The counts of each stream, and what became of its judgements by block."""
    if not rows.streams:
        return {}
    streams = list(_list_streams(rows))
    places = [one.places for one in streams]
    widest = max(len(one.strata) for one in streams)
    sizes = [len(bins) for bins in rows.bins]
    columns = (
        np.repeat(np.array(rows.blocks, dtype=np.int64), sizes),
        np.repeat(np.fromiter(chain.from_iterable(places), np.int64, len(sizes)), sizes),
        np.fromiter(chain.from_iterable(rows.bins), np.int64),
        np.fromiter(chain.from_iterable(rows.counts), np.int64),
    )
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    disorder = _count_disorder(*columns[:3], strata=widest)
    found: dict[int, tuple[BlockCounts, dict[int, Outcomes]]] = {}
    for one in streams:
        begin, end = ends[one.begin], ends[one.begin + len(one.places)]
        own = [column[begin:end] for column in columns]
        is_ordered = begin == end or disorder[begin] == disorder[end - 1]
        counts = BlockCounts(one.strata, *own) if is_ordered else gather_counts(*own, strata=one.strata)
        found[one.number] = (counts, one.outcomes)
    return found


class _Stream(NamedTuple):
    """The rows of one stream from `begin` on: the place of each one's stratum, and outcomes by block."""

    number: int
    begin: int
    strata: tuple[str, ...]
    places: list[int]
    outcomes: dict[int, Outcomes]


def _list_streams(rows: BlockRows) -> Iterator[_Stream]:
    begin, total = 0, len(rows.streams)
    while begin < total:
        end = begin
        stream = rows.streams[begin]
        scored: dict[int, int] = {}
        failed: dict[int, int] = {}
        strata: dict[str, int] = {}
        places = []
        while end < total and rows.streams[end] == stream:
            block = rows.blocks[end]
            scored[block] = scored.get(block, 0) + rows.n[end]
            failed[block] = failed.get(block, 0) + rows.failed[end]
            places.append(strata.setdefault(rows.strata[end], len(strata)))
            end += 1
        outcomes = {block: Outcomes(n, failed[block]) for block, n in scored.items()}
        yield _Stream(stream, begin, tuple(strata), places, outcomes)
        begin = end


def _count_disorder(
    block: NDArray[np.int64], stratum: NDArray[np.int64], bins: NDArray[np.int64], *, strata: int
) -> list[int]:
    """How often up to each row one did not come after the one before; the same number is one order."""
    key = (block * strata + stratum) * BIN_COUNT + bins
    return np.concatenate([[0], np.cumsum(key[1:] <= key[:-1])]).tolist() if key.size else []
