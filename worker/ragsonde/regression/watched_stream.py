"""A stream while blocks of it are judged: what it is compared with by now, and what was told of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.alert_state import EventKind, Level, StreamState
from ragsonde.regression.arming import arm
from ragsonde.regression.baseline import BASELINE_DAYS, Baseline, BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.fleet import StreamBlock
from ragsonde.regression.floors import FloorSpan, lift_baseline
from ragsonde.regression.holds import find_failed_share, name_hold
from ragsonde.regression.latching import ToldFall, find_rest, latch
from ragsonde.regression.rolling import find_fallen, find_window, roll

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.extraction_shares import ExtractionShares

NEVER = -1
WEAK_KINDS = frozenset({BaselineKind.FLOOR, BaselineKind.PROVISIONAL})


class Armed(NamedTuple):
    """A baseline, and where it belongs.

    Attributes:
        since, until: the blocks whose traces it is of.
        judges_from: the first block that is judged by it.
        failed_share: of the outcomes of these blocks, those that are errors.
        number: that it is stored under; None: not yet.
        is_chosen: a person made it, so none takes its place by itself.
    """

    since: int
    until: int
    judges_from: int
    baseline: Baseline
    failed_share: float
    number: int | None = None
    is_chosen: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it is of all the days that a baseline is of."""
        return self.baseline.kind not in WEAK_KINDS


class Outcomes(NamedTuple):
    """What became of a block's judgements."""

    scored: int
    failed: int


class Happening(NamedTuple):
    """What is new to tell of a stream.

    Attributes:
        stream: its number.
        block: at whose end.
        before: the state before that block.
        after: and after it.
    """

    stream: int
    kind: EventKind
    block: int
    before: StreamState
    after: StreamState
    armed: Armed


class Snapshot(NamedTuple):
    """A stream after a block."""

    block: int
    part: int
    armed: Armed | None
    state: StreamState
    hold: str | None


@dataclass(slots=True, kw_only=True)
class WatchedStream:
    """One stream of those that are judged together.

    Attributes:
        number: of the stream.
        begun: its first block.
        counts: from `begun` on where a baseline may have to be armed, else of what is to be judged.
        outcomes: by block, scored and failed, of these and of the hour before.
        resumed: the block that `state` is the state after; blocks after it are judged.
        judged: the last block that was judged before; later ones are judged for the first time.
        part: day of the first week, from 0; BASELINE_DAYS afterwards.
        armed: what it is compared with; None: it cannot be judged yet.
        known: baselines that are stored already, by the block they judge from.
        falls: that were told of it, in the order of time.
        can_page: false for scores that are good near a target.
        floor: of the settings: stands in where there is no baseline.
        chosen_floors: of people, in the order of time: each stands in likewise, and beside a baseline.
        shares: by which rules the fields of its place's traces are found; None: not known.
        is_rolling: its baseline moves along, after its first week; it is never paged then.
        known_from: the first block that `counts` are whole from.
        snapshots: of the last block of each day.
        armings: every baseline that judges, in the order of time.
    """

    number: int
    begun: int
    counts: BlockCounts
    outcomes: Mapping[int, tuple[int, int]]
    resumed: int
    judged: int = NEVER
    part: int = NEVER
    armed: Armed | None = None
    known: Mapping[int, Armed] = field(default_factory=dict)
    state: StreamState = field(default_factory=StreamState)
    falls: list[ToldFall] = field(default_factory=list)
    can_page: bool = True
    is_rolling: bool = False
    known_from: int = NEVER
    smallest_drop: float = SMALLEST_DROP
    floor: float | None = None
    chosen_floors: Sequence[FloorSpan] = ()
    hold: str | None = None
    shares: ExtractionShares | None = None
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    armings: list[Armed] = field(default_factory=list)
    _rolled: int = field(init=False, default=NEVER)
    _passed: int = field(init=False, default=NEVER)
    _lifted: tuple[Armed, float, Armed] | None = field(init=False, default=None)
    _moves: tuple[int, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        self._passed = self.resumed
        ends = {one.ends for one in self.chosen_floors if one.ends is not None}
        self._moves = tuple(sorted(ends | {one.begins for one in self.chosen_floors}))
        self._rolled = (self.resumed - self.begun) // BLOCKS_PER_DAY
        if self.armed is not None:
            self.armings.append(self.armed)

    def list_blocks(self) -> list[int]:
        """The blocks that are to be judged, ascending."""
        return sorted(block for block in self.outcomes if block > self.resumed)

    def enter(self, block: int) -> StreamBlock | None:
        """What the block brings, by the baseline of its time; None where it brings no evidence."""
        self._keep_told(block - 1)
        self._keep_armed(block)
        if any(fall.closed is not None and self._passed <= fall.closed < block for fall in self.falls):
            self.state = StreamState()  # a person may close one between blocks
        if any(self._passed < moved <= block for moved in self._moves):
            self.state = self.state.rebase()
        self._passed = block
        self.hold = self._find_hold(block)
        judging = self._find_judging(block)
        if judging is None or self.hold is not None:
            self._remember(block)
            return None
        is_sure = judging.baseline.kind not in {BaselineKind.PROVISIONAL, BaselineKind.ROLLING}
        counts = self.counts.between(block, block + 1)
        return StreamBlock(self.state, counts, judging.baseline, self.can_page and is_sure)

    def leave(self, block: int, after: StreamState, kind: EventKind | None) -> Happening | None:
        """Takes over the state after the block, and says what is new to tell."""
        before = self.state
        if block <= self.judged or any(
            fall.closed is not None and block <= fall.closed for fall in self.falls
        ):
            after, kind = latch(self.falls, after, kind, block=block)
        self.state = after
        self._remember(block)
        judging = self._find_judging(block)
        if kind is None or judging is None:
            return None
        self._note_told(block, kind)
        return Happening(self.number, kind, block, before, after, judging)

    def _find_judging(self, block: int) -> Armed | None:
        """What a block is compared with: its baseline, raised to the floor of a person that holds for it.

        Where a floor stands alone, nothing is before it was set; nor by what came when one was dropped.
        """
        armed = self.armed
        if armed is None or not self.chosen_floors:
            return armed
        if not armed.is_chosen and not armed.is_whole:
            if block < self._moves[-1]:
                return None
            if armed.baseline.kind is BaselineKind.FLOOR:
                return armed
        floor = next((one.mean for one in self.chosen_floors if one.holds(block)), None)
        if floor is None:
            return armed
        if self._lifted is None or self._lifted[0] is not armed or self._lifted[1] != floor:
            lifted = lift_baseline(armed.baseline, floor)
            self._lifted = (armed, floor, armed._replace(baseline=lifted))
        return self._lifted[2]

    def _keep_told(self, block: int) -> None:
        """Open after a block is what was told by then, also where that was before all that is judged."""
        told = find_rest(self.falls, block)
        if (told.level, told.opened) != (self.state.level, self.state.opened):
            is_open = told.level is not Level.QUIET
            self.state = (
                replace(self.state, level=told.level, opened=told.opened) if is_open else StreamState()
            )

    def _keep_armed(self, block: int) -> None:
        if self.armed is not None and self.armed.is_chosen:
            return
        day = (block - self.begun) // BLOCKS_PER_DAY
        part = min(day, BASELINE_DAYS)
        if self.is_rolling and part == BASELINE_DAYS:
            self.part = part
            if self.armed is None or day > self._rolled:
                self._take_over(self._roll(self.begun + day * BLOCKS_PER_DAY))
            self._rolled = day
        elif part != self.part:
            self.part = part
            self._take_over(self._arm(part))
        elif self.armed is not None and self.armed.baseline.kind is BaselineKind.ROLLING:
            self._take_over(self._stop_rolling(self.armed, block))

    def _take_over(self, armed: Armed | None) -> None:
        if armed is None:
            return
        if self.armed is None or armed.baseline.kind is not self.armed.baseline.kind:
            self.state = self.state.rebase()
        self.armed = armed
        self.armings.append(armed)

    def _arm(self, part: int) -> Armed | None:
        first = self.begun + part * BLOCKS_PER_DAY
        if first in self.known:
            return self.known[first]
        standing = next((one.mean for one in self.chosen_floors if one.ends is None), self.floor)
        baseline = arm(
            self.counts.between(self.begun, first),
            is_complete=part == BASELINE_DAYS,
            smallest_drop=self.smallest_drop,
            floor=standing,
        )
        if baseline is None:
            return None
        share = find_failed_share(self.outcomes, self.begun, first)
        return Armed(self.begun, first, first, baseline, share or 0.0)

    def _roll(self, first: int) -> Armed | None:
        """The baseline of the day that begins with this block; none while a fall is open."""
        if self.armed is not None and self.state.level is not Level.QUIET:
            return None
        if first in self.known:
            return self.known[first]
        window = find_window(first, begun=self.begun)
        if window.since < self.known_from:
            return None
        fallen = [
            find_fallen(fall.opened, fall.closed)
            for fall in self.falls
            if fall.closed is not None and not fall.is_usual
        ]
        baseline = roll(self.counts, window, fallen=fallen, smallest_drop=self.smallest_drop)
        if baseline is None:
            return None
        share = find_failed_share(self.outcomes, *window)
        return Armed(window.since, window.until, first, baseline, share or 0.0)

    def _stop_rolling(self, armed: Armed, block: int) -> Armed | None:
        """The settings say pinned by now: the week that it was last compared with stays.

        Its first week may be long gone. What was pinned once stays so, whatever is judged anew.
        """
        later = [
            one
            for one in self.known.values()
            if one.baseline.kind is BaselineKind.PINNED and one.judges_from > armed.judges_from
        ]
        if not later:
            pinned = replace(armed.baseline, kind=BaselineKind.PINNED)
            return armed._replace(judges_from=block, baseline=pinned, number=None)
        (first, *_) = sorted(later, key=lambda one: one.judges_from)
        return first if first.judges_from <= block else None

    def _find_hold(self, block: int) -> str | None:
        if self.armed is None:
            return None
        return name_hold(self.outcomes, self.shares, usual_share=self.armed.failed_share, block=block)

    def _remember(self, block: int) -> None:
        self.snapshots[block // BLOCKS_PER_DAY] = Snapshot(
            block, self.part, self.armed, self.state, self.hold
        )

    def _note_told(self, block: int, kind: EventKind) -> None:
        open_fall = next((fall for fall in self.falls if fall.closed is None), None)
        if open_fall is None:
            self.falls.append(ToldFall(block, paged=block if kind is EventKind.PAGE else None))
        elif kind is EventKind.PAGE:
            open_fall.paged = block
        elif kind is EventKind.RESOLVE:
            open_fall.closed = block
