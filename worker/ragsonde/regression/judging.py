"""Blocks of many streams, one after the other: each by what its stream is compared with at that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.fleet import step_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.regression.watched_stream import Happening, WatchedStream


def judge_blocks(
    streams: Sequence[WatchedStream], *, find_log_page: Callable[[int], float]
) -> tuple[Happening, ...]:
    """What is new to tell, in the order of time; the streams' states and snapshots are moved on.

    Args:
        streams: with the counts of what is to be judged.
        find_log_page: of a day since the epoch, the threshold of a page, as the log of blocks.
    """
    by_block: dict[int, list[WatchedStream]] = {}
    for stream in streams:
        for block in stream.list_blocks():
            by_block.setdefault(block, []).append(stream)
    told = []
    for block in sorted(by_block):
        entered = [(stream, brought) for stream in by_block[block] if (brought := stream.enter(block))]
        if not entered:
            continue
        log_page = find_log_page(block // BLOCKS_PER_DAY)
        results = step_streams([brought for _, brought in entered], block=block, log_page=log_page)
        for (stream, _), (after, kind) in zip(entered, results, strict=True):
            if (happening := stream.leave(block, after, kind)) is not None:
                told.append(happening)
    return tuple(told)
