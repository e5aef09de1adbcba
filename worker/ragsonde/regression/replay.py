"""The history of a stream through the same steps that watch it live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.alert_state import EventKind, Level, StreamState, step_state
from ragsonde.regression.arming import arm
from ragsonde.regression.baseline import BASELINE_DAYS, Baseline, BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.evidence import count_evidence_days, grow_blocks
from ragsonde.regression.explanation import Explanation, explain_fall, explain_recovery
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.holds import find_failed_share, find_hold
from ragsonde.regression.recovery import grow_recovery
from ragsonde.regression.rolling import find_fallen, find_window, roll
from ragsonde.regression.threshold import PAGE_DAYS, RESOLVE_DAYS, find_log_blocks, find_page_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.watched_stream import Outcomes

SEARCHED_DAYS = 14
"""How far back the beginning of a fall is looked for."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that would have been told.

    Attributes:
        kind: page, warn or resolve.
        block: at whose end.
        evidence_days: of the fall; of a resolve of the recovery, which are the 30 it takes.
        explanation: of the fall since it began; of a resolve, of what is left of it since the recovery began.
        baseline: that it was judged against.
    """

    kind: EventKind
    block: int
    evidence_days: float
    explanation: Explanation
    baseline: Baseline


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of a stream.

    Attributes:
        events: in the order of time.
        baseline: the last one; none where the stream could never be watched.
        state: at the end.
    """

    events: tuple[Event, ...]
    baseline: Baseline | None
    state: StreamState


def replay(
    counts: BlockCounts,
    *,
    baseline_days: int = BASELINE_DAYS,
    smallest_drop: float = SMALLEST_DROP,
    floor: float | None = None,
    may_page: bool = True,
    page_days: float = PAGE_DAYS,
    find_active: Callable[[int], int] = lambda _: 1,
    outcomes: Mapping[int, Outcomes] | None = None,
) -> Replay:
    """What would have been told of a stream's whole history.

    Args:
        counts: all blocks of it.
        baseline_days: how many days from its first block make the pinned baseline.
        smallest_drop: the smallest one that matters.
        floor: used where there are too few traces for a baseline.
        may_page: false for scores that are good near a target.
        page_days: chance alone pages once in so many days at most, all streams together.
        find_active: of a day since the epoch, how many streams share the budget of false pages.
        outcomes: by block; blocks bring no evidence while judgements fail more often than in the baseline.
    """
    budget = _Budget(page_days, find_active)
    outcomes = {} if outcomes is None else outcomes
    events: list[Event] = []
    state, baseline = StreamState(), None
    for part in _list_parts(counts, baseline_days=baseline_days):
        armed = arm(
            counts.between(part.known_from, part.first),
            is_complete=part.is_complete,
            smallest_drop=smallest_drop,
            floor=floor,
        )
        if armed is None:
            continue
        if baseline is None or armed.kind is not baseline.kind:
            state = state.rebase()
        baseline = armed
        is_sure = baseline.kind is not BaselineKind.PROVISIONAL
        share = find_failed_share(outcomes, part.known_from, part.first) or 0.0
        held = {
            block
            for block in outcomes
            if part.first <= block < part.end and find_hold(outcomes, share, block=block)
        }
        watch = _Watch(counts, baseline, part, smallest_drop, may_page and is_sure, budget, held)
        state = watch.run(state, events)
    return Replay(tuple(events), baseline, state)


class _Part(NamedTuple):
    """Blocks `first` to `end - 1` are judged by what blocks `known_from` to `first - 1` were like."""

    known_from: int
    first: int
    end: int
    is_complete: bool


def replay_rolling(counts: BlockCounts, *, smallest_drop: float = SMALLEST_DROP) -> Replay:
    """What would have been told of a stream's whole history by a rolling baseline: warnings.

    Args:
        counts: all blocks of it.
        smallest_drop: the smallest one that matters.
    """
    budget = _Budget(PAGE_DAYS, lambda _: 1)
    events: list[Event] = []
    state, baseline = StreamState(), None
    for part in _list_rolling_parts(counts):
        if part.is_complete and (baseline is None or state.level is Level.QUIET):
            window = find_window(part.first, begun=part.known_from)
            armed = roll(counts, window, fallen=_list_fallen(events), smallest_drop=smallest_drop)
        else:
            armed = None
        if not part.is_complete:
            known = counts.between(part.known_from, part.first)
            armed = arm(known, is_complete=False, smallest_drop=smallest_drop)
        if armed is not None:
            if baseline is None or armed.kind is not baseline.kind:
                state = state.rebase()
            baseline = armed
        if baseline is None:
            continue
        open_part = part._replace(is_complete=False)  # a fall may have begun before today
        watch = _Watch(counts, baseline, open_part, smallest_drop, may_page=False, budget=budget, held=set())
        state = watch.run(state, events)
    return Replay(tuple(events), baseline, state)


def _list_fallen(events: list[Event]) -> list[tuple[int, int]]:
    fallen: list[tuple[int, int]] = []
    opened: int | None = None
    for event in events:
        if event.kind is not EventKind.RESOLVE:
            opened = event.block if opened is None else opened
        elif opened is not None:
            fallen.append(find_fallen(opened, event.block))
            opened = None
    return fallen


def _list_rolling_parts(counts: BlockCounts) -> Iterator[_Part]:
    if not counts.block.size:
        return
    begin, end = int(counts.block[0]), int(counts.block[-1]) + 1
    pinned = begin + BASELINE_DAYS * BLOCKS_PER_DAY
    for first in range(begin, end, BLOCKS_PER_DAY):
        yield _Part(begin, first, min(first + BLOCKS_PER_DAY, end), is_complete=first >= pinned)


def _list_parts(counts: BlockCounts, *, baseline_days: int) -> Iterator[_Part]:
    if not counts.block.size:
        return
    begin, end = int(counts.block[0]), int(counts.block[-1]) + 1
    pinned = begin + baseline_days * BLOCKS_PER_DAY
    for first in range(begin, min(pinned, end), BLOCKS_PER_DAY):
        yield _Part(begin, first, min(first + BLOCKS_PER_DAY, end), is_complete=False)
    if pinned < end:
        yield _Part(begin, pinned, end, is_complete=True)


class _Budget(NamedTuple):
    """Of false pages: of how many days one, and how many streams share it on a day."""

    page_days: float
    find_active: Callable[[int], int]

    def find_log_page(self, day: int) -> float:
        """The threshold of a page, log of blocks."""
        return find_log_blocks(find_page_threshold(self.find_active(day), page_days=self.page_days))


class _Watch(NamedTuple):
    """One part of a history, and how it is judged; blocks in `held` bring no evidence."""

    counts: BlockCounts
    baseline: Baseline
    part: _Part
    smallest_drop: float
    may_page: bool
    budget: _Budget
    held: set[int]

    def run(self, state: StreamState, events: list[Event]) -> StreamState:
        """The state at the part's end; what happens on the way is added to `events`."""
        counts = self.counts.between(self.part.first, self.part.end)
        blocks, growth = grow_blocks(counts, self.baseline)
        _, recovery = grow_recovery(counts, self.baseline)
        day, log_page = -1, 0.0
        for place, block in enumerate(blocks.tolist()):
            if block in self.held:
                continue
            if block // BLOCKS_PER_DAY != day:
                day = block // BLOCKS_PER_DAY
                log_page = self.budget.find_log_page(day)
            before = state
            state, kind = step_state(
                state,
                block=block,
                growth=growth[place],
                recovery=recovery[place],
                log_page=log_page,
                may_page=self.may_page,
            )
            if kind is EventKind.RESOLVE:
                events.append(self._tell_recovery(before, block, events))
            elif kind is not None:
                events.append(self._tell_fall(state, kind, block, events))
        return state

    def _tell_fall(self, state: StreamState, kind: EventKind, block: int, events: list[Event]) -> Event:
        resolved = max((event.block + 1 for event in events if event.kind is EventKind.RESOLVE), default=0)
        earliest = max(self.part.known_from, resolved, block + 1 - SEARCHED_DAYS * BLOCKS_PER_DAY)
        if self.baseline.kind is BaselineKind.PINNED:
            earliest = max(earliest, self.part.first)
        found = explain_fall(
            self.counts.between(earliest, block + 1), self.baseline, smallest_drop=self.smallest_drop
        )
        return Event(kind, block, count_evidence_days(state.log_evidence), found, self.baseline)

    def _tell_recovery(self, before: StreamState, block: int, events: list[Event]) -> Event:
        opened = self.part.first if before.opened is None else before.opened
        found = explain_recovery(
            self.counts.between(opened, block + 1), self.baseline, drop=events[-1].explanation.drop
        )
        return Event(EventKind.RESOLVE, block, RESOLVE_DAYS, found, self.baseline)
