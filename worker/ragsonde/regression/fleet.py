"""One block of many streams at once: what the monitor does every five minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragsonde.regression.alert_state import LOG_WARN, EventKind, Level, StreamState, step_state
from ragsonde.regression.bets import STAKES, grow_logs
from ragsonde.regression.evidence import advance_evidence, grow_blocks, sum_evidence
from ragsonde.regression.recovery import grow_recovery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.blocks import BlockCounts


class StreamBlock(NamedTuple):
    """What one block brings to one stream: its state, the counts of that block alone, its baseline."""

    state: StreamState
    counts: BlockCounts
    baseline: Baseline
    may_page: bool = True


def step_streams(
    streams: Sequence[StreamBlock], *, block: int, log_page: float
) -> list[tuple[StreamState, EventKind | None]]:
    """For each stream, in their order, its state after the block and what happened at its end.

    The same as `step_state` for each: only quiet streams, which most are, are worked on together.

    Args:
        streams: each with counts of `block` alone; none at all is fine.
        block: which.
        log_page: threshold of a page, log of blocks.
    """
    if not streams:
        return []
    growth, has_traces = _grow(streams)
    before = np.stack([stream.state.log_bets for stream in streams])
    log_bets = advance_evidence(before, growth, has_traces=has_traces, log_threshold=log_page)
    is_loud = (sum_evidence(log_bets) >= LOG_WARN).tolist()
    results: list[tuple[StreamState, EventKind | None]] = []
    for place, stream in enumerate(streams):
        if not has_traces[place]:
            results.append((stream.state, None))
        elif stream.state.level is Level.QUIET and not is_loud[place]:
            results.append((StreamState(log_bets=log_bets[place]), None))
        else:
            results.append(_step_alone(stream, block=block, log_page=log_page))
    return results


def _step_alone(stream: StreamBlock, *, block: int, log_page: float) -> tuple[StreamState, EventKind | None]:
    _, growth = grow_blocks(stream.counts, stream.baseline)
    _, recovery = grow_recovery(stream.counts, stream.baseline)
    return step_state(
        stream.state,
        block=block,
        growth=growth[0],
        recovery=recovery[0],
        log_page=log_page,
        may_page=stream.may_page,
    )


def _grow(streams: Sequence[StreamBlock]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """S of each stream, tempered, [streams, 12], and which have traces in watched cells."""
    rows = [_list_rows(stream) for stream in streams]
    sizes = np.array([count.size for count, _, _ in rows])
    has_traces = sizes > 0
    growth = np.zeros((len(streams), STAKES.size))
    if has_traces.any():
        count, values, levels = (np.concatenate(column) for column in zip(*rows, strict=True))
        starts = (np.cumsum(sizes) - sizes)[has_traces]
        phi = np.array([stream.baseline.overdispersion for stream in streams])
        total = np.add.reduceat(grow_logs(values, count, levels), starts, axis=0)
        growth[has_traces] = total / phi[has_traces, None]
    return growth, has_traces


def _list_rows(
    stream: StreamBlock,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Counts, values and levels of the rows in watched cells."""
    counts, baseline = stream.counts, stream.baseline
    cell = baseline.cells.assign(counts)
    is_used = baseline.is_watched[cell]
    return counts.count[is_used], counts.values[is_used], baseline.levels[cell[is_used]]
