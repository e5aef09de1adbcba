"""What one block of a thousand streams costs."""

from __future__ import annotations

import time

import numpy as np
from score_streams import DAY, draw_stream
from trials import TOPICS, WEEK, count

from ragsonde.regression.alert_state import StreamState
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.fleet import StreamBlock, step_streams
from ragsonde.regression.threshold import find_log_blocks, find_page_threshold

PASSES = 12


def time_pass(*, streams: int = 1000, per_minute: float = 10.0, seed: int = 1) -> float:
    """Microseconds of CPU a stream and block, each block with its traces; SQL is not in it."""
    counts = count(draw_stream(np.random.default_rng(seed), WEEK + 1, per_minute))
    first = int(WEEK * DAY / 300) + 140
    baseline = fit_baseline(counts.between(0, first))
    log_page = find_log_blocks(find_page_threshold(streams))
    states = [StreamState() for _ in range(streams)]
    blocks = [counts.between(first + step, first + step + 1) for step in range(PASSES)]
    begun = time.process_time()
    for step, of_block in enumerate(blocks):
        told = step_streams(
            [StreamBlock(state, of_block, baseline) for state in states],
            block=first + step,
            log_page=log_page,
        )
        states = [state for state, _ in told]
    return (time.process_time() - begun) / streams / PASSES * 1e6


if __name__ == "__main__":
    print(f"{time_pass():.0f} us a stream and block, {len(TOPICS)} strata")  # noqa: T201 - a benchmark tells
