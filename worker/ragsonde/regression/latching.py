"""What was told stays told: blocks that are judged anew change evidence, and not what people were told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragsonde.regression.alert_state import EventKind, Level, StreamState

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True)
class ToldFall:
    """A fall that was told: the blocks at whose ends it was raised, became a page, was closed.

    Attributes:
        opened: never earlier than the other two.
        paged: None while it is a warning.
        closed: None while it is open.
        is_usual: a person called it false, or accepted it: its scores are as they should be.
    """

    opened: int
    paged: int | None = None
    closed: int | None = None
    is_usual: bool = False

    def find_level(self, block: int) -> Level:
        """What was open of it at the block's end."""
        if block < self.opened or (self.closed is not None and block >= self.closed):
            return Level.QUIET
        return Level.PAGED if self.paged is not None and block >= self.paged else Level.WARNED


def find_rest(falls: Sequence[ToldFall], block: int) -> StreamState:
    """No evidence after a block, and what was open then stays open."""
    told = next((fall for fall in falls if fall.find_level(block) is not Level.QUIET), None)
    return StreamState() if told is None else StreamState(level=told.find_level(block), opened=told.opened)


def latch(
    falls: Sequence[ToldFall], state: StreamState, kind: EventKind | None, *, block: int
) -> tuple[StreamState, EventKind | None]:
    """The state after a block that is judged anew, and what is new to tell of it.

    Told is only what nobody was told of: a fall where none was told at that time or after it, a page where it
    is a warning still, an end where it is open still.

    Args:
        falls: of the stream, in the order of time.
        state: after the block, as the detector has it.
        kind: what the detector says happened at its end.
        block: which.
    """
    if any(fall.closed == block for fall in falls):
        return StreamState(), None
    told = next((fall for fall in falls if fall.find_level(block) is not Level.QUIET), None)
    if told is not None:
        return _hold_open(told, state, kind, block=block)
    if state.level is Level.QUIET:
        return state, None
    is_told_later = any(fall.opened > block for fall in falls)
    if not is_told_later and kind in {EventKind.WARN, EventKind.PAGE}:
        return state, kind
    return StreamState(log_bets=state.log_bets), None


def _hold_open(
    told: ToldFall, state: StreamState, kind: EventKind | None, *, block: int
) -> tuple[StreamState, EventKind | None]:
    if told.closed is None and kind is EventKind.RESOLVE:
        return state, kind
    if told.closed is None and told.paged is None and kind is EventKind.PAGE:
        return replace(state, opened=told.opened), kind
    level = told.find_level(block)
    if state.level is level and state.opened == told.opened:
        return state, None
    return replace(state, level=level, opened=told.opened), None
