"""Our detector on made-up streams: what it told, how soon, how well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from score_streams import DAY, Change, break_scores, draw_stream
from told import Told

from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.block_lengths import BLOCK_SECONDS, BLOCKS_PER_DAY
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.release_comparison import Verdict, compare_in_turn, compare_side_by_side
from ragsonde.regression.replay import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from score_streams import Stream

    from ragsonde.regression.blocks import BlockCounts

TOPICS = ("returns", "billing", "devices", "law")
WEEK = 7.0


@dataclass(frozen=True, slots=True)
class Detection:
    """What became of one change: traces and hours from it to the page, and how far `since` was off.

    `traces` is infinite where no page came; `is_early` where one came before the change.
    """

    traces: float = np.inf
    hours: float = np.inf
    since_error_minutes: float = np.inf
    is_early: bool = False


def count(stream: Stream) -> BlockCounts:
    return count_blocks(stream.seconds, stream.score, stratum=stream.topic, strata=TOPICS)


def replay_counts(stream: Stream, topics: Sequence[str]) -> list[Told]:
    """What the detector tells of the stream, without a file between."""
    counts = count_blocks(stream.seconds, stream.score, stratum=stream.topic, strata=topics)
    return [Told(event.kind, event.block, event.explanation.since) for event in replay(counts).events]


class Trial:
    """How the detector is asked: all trials of a run ask in the same way.

    Attributes:
        ask: what is told of a stream with these topics.
    """

    ask: ClassVar[Callable[[Stream, Sequence[str]], list[Told]]] = staticmethod(replay_counts)


def find_pages(stream: Stream) -> list[Told]:
    return [told for told in Trial.ask(stream, TOPICS) if told.kind == EventKind.PAGE]


def count_told(stream: Stream) -> tuple[int, int]:
    """Pages, and warnings after the first week."""
    events = Trial.ask(stream, TOPICS)
    warned = sum(event.kind == EventKind.WARN and event.block >= WEEK * BLOCKS_PER_DAY for event in events)
    return sum(event.kind == EventKind.PAGE for event in events), warned


def detect(stream: Stream, change: float) -> Detection:
    """The first page of a stream that changed at that second."""
    pages = find_pages(stream)
    if not pages:
        return Detection()
    told = (pages[0].block + 1) * BLOCK_SECONDS
    if told <= change:
        return Detection(is_early=True)
    return Detection(
        traces=int(np.searchsorted(stream.seconds, told) - np.searchsorted(stream.seconds, change)),
        hours=(told - change) / 3600,
        since_error_minutes=abs(pages[0].since * BLOCK_SECONDS - change) / 60,
    )


def draw_changed(random: Generator, *, days: float, per_minute: float, drop: float) -> tuple[Stream, float]:
    """A stream that falls at some moment of the second day after its baseline, and that moment."""
    change = (WEEK + 1 + random.random()) * DAY
    return draw_stream(random, days, per_minute, change=Change(change, drop)), change


def draw_blip(random: Generator, *, per_minute: float) -> tuple[Stream, float]:
    """A stream that falls by .30 for ten minutes on its ninth day, and when."""
    start = (WEEK + 1 + random.random() * 0.9) * DAY
    change = Change(start, 0.30, end=start + 600)
    return draw_stream(random, WEEK + 2.5, per_minute, change=change), start


def draw_mix_shift(random: Generator, *, days: float, per_minute: float) -> Stream:
    """A stream whose topics become harder after its eighth day, while each topic stays as it was."""
    return draw_stream(random, days, per_minute, change=Change((WEEK + 1) * DAY, is_mix=True))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was said of a new release over time, asked at every block: the first verdict.

    Attributes:
        verdict: undecided where none came.
        traces: of both releases that it took, or of the one that serves; infinite where none came.
        traces_new: of the new release.
    """

    verdict: Verdict
    traces: float
    traces_new: float


def draw_start(random: Generator) -> float:
    """The second at which a release begins: a whole block of the eighth day."""
    return WEEK * DAY + int(random.integers(0, BLOCKS_PER_DAY)) * BLOCK_SECONDS


def compare_canary(
    random: Generator, *, days: float, per_minute: float, drop: float, is_by_session: bool
) -> Comparison:
    """Half of the traces, or of the sessions, go to a new release on the eighth day, asked each block.

    Traces of a session are alike: where whole sessions are assigned, the difference of releases varies more.
    """
    start = draw_start(random)
    stream = draw_stream(random, WEEK + 1 + days, per_minute)
    is_after = stream.seconds >= start
    unit = stream.session if is_by_session else np.arange(stream.session.size)
    is_new = is_after & (random.random(int(unit.max()) + 1) < 0.5)[unit]
    score = break_scores(random, stream.score, is_new, drop) if drop else stream.score
    before = stream.seconds < WEEK * DAY
    overdispersion = fit_baseline(_count(stream, score, before)).clustering if is_by_session else 1.0
    old, new = (_count(stream, score, where) for where in (is_after & ~is_new, is_new))
    first = int(start // BLOCK_SECONDS)
    for end in range(first + 1, first + int(days * BLOCKS_PER_DAY) + 1):
        found = compare_side_by_side(
            old.between(first, end), new.between(first, end), overdispersion=overdispersion
        )
        if found.verdict is not Verdict.UNDECIDED:
            return Comparison(found.verdict, found.traces_old + found.traces_new, found.traces_new)
    return Comparison(Verdict.UNDECIDED, np.inf, np.inf)


def compare_successor(random: Generator, *, days: float, per_minute: float, drop: float) -> Comparison:
    """A new release takes all traffic on the eighth day, asked every five minutes."""
    start = draw_start(random)
    stream = draw_stream(random, WEEK + 1 + days, per_minute, change=Change(start, drop))
    counts = count(stream)
    first = int(start // BLOCK_SECONDS)
    baseline = fit_baseline(counts.between(0, first))
    for end in range(first + 1, first + int(days * BLOCKS_PER_DAY) + 1):
        found = compare_in_turn(baseline, counts.between(first, end))
        if found.verdict is not Verdict.UNDECIDED:
            return Comparison(found.verdict, found.traces_new, found.traces_new)
    return Comparison(Verdict.UNDECIDED, np.inf, np.inf)


def _count(stream: Stream, score: np.ndarray, where: np.ndarray) -> BlockCounts:
    return count_blocks(stream.seconds[where], score[where], stratum=stream.topic[where], strata=TOPICS)
