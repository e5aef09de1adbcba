"""A rolling baseline on made-up streams: how often it warns for nothing, how soon of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from score_streams import DAY, Change, draw_stream
from trials import WEEK, count, draw_changed

from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.block_lengths import BLOCK_SECONDS, BLOCKS_PER_DAY
from ragsonde.regression.replay import replay, replay_rolling

if TYPE_CHECKING:
    from numpy.random import Generator

    from ragsonde.regression.replay import Replay

MONTH = 30.0
DECAY_DAYS = 60.0
DECAY = 0.002


def measure_false_warnings(random: Generator, *, streams: int, per_minute: float) -> int:
    """Warnings after the first week of streams in which nothing changes, a month each."""
    return sum(
        len(_list_told(replay_rolling(count(draw_stream(random, WEEK + MONTH, per_minute)))))
        for _ in range(streams)
    )


def measure_drops(random: Generator, *, streams: int, drop: float) -> str:
    """Traces from a fall to its warning: the median, the ninth tenth, and how many were never told of."""
    traces = []
    for _ in range(streams):
        stream, change = draw_changed(random, days=WEEK + 7, per_minute=10, drop=drop)
        blocks = _list_told(replay_rolling(count(stream)))
        moments = [(block + 1) * BLOCK_SECONDS for block in blocks]
        told = next((moment for moment in moments if moment > change), None)
        if told is None:
            traces.append(np.inf)
            continue
        traces.append(int(np.searchsorted(stream.seconds, told) - np.searchsorted(stream.seconds, change)))
    median, p90 = np.median(traces), np.quantile(traces, 0.9, method="higher")
    return f"{median:,.0f} ({p90:,.0f}); missed {int(np.isinf(traces).sum())}"


def measure_decay(random: Generator, *, streams: int) -> dict[str, str]:
    """How many streams that lose .002 a day were told of, and by how much they had fallen; by baseline."""
    told: dict[str, list[float]] = {"pinned": [], "rolling": []}
    for _ in range(streams):
        change = Change(WEEK * DAY, drop_a_day=DECAY)
        counts = count(draw_stream(random, WEEK + DECAY_DAYS, 10, change=change))
        for kind, found in (("pinned", replay(counts)), ("rolling", replay_rolling(counts))):
            blocks = _list_told(found)
            if blocks:
                told[kind].append((blocks[0] / BLOCKS_PER_DAY - WEEK) * DECAY)
    return {kind: _tell_decay(fallen, streams=streams) for kind, fallen in told.items()}


def _tell_decay(fallen: list[float], *, streams: int) -> str:
    found = f"told of {len(fallen)} of {streams}"
    return f"{found}, at the median once {np.median(fallen):.3f} lower" if fallen else found


def _list_told(found: Replay) -> list[int]:
    """At the end of which blocks a fall was told first, after the first week."""
    told: list[int] = []
    is_open = False
    for event in found.events:
        if event.kind is EventKind.RESOLVE:
            is_open = False
        elif not is_open:
            is_open = True
            told.append(event.block)
    return [block for block in told if block >= WEEK * BLOCKS_PER_DAY]
