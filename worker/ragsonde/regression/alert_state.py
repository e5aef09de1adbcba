"""The state of one stream, and what one block does to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ragsonde.regression.bets import STAKES
from ragsonde.regression.evidence import advance_evidence, sum_evidence
from ragsonde.regression.recovery import LOG_RESOLVE
from ragsonde.regression.threshold import WARN_DAYS, find_log_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOG_WARN = find_log_blocks(WARN_DAYS)


class EventKind(StrEnum):
    """What became of a stream."""

    PAGE = "page"
    WARN = "warn"
    RESOLVE = "resolve"


class Level(StrEnum):
    """What is open of a stream."""

    QUIET = "quiet"
    WARNED = "warned"
    PAGED = "paged"


def _rest() -> NDArray[np.float64]:
    return np.full(STAKES.size, -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class StreamState:
    """All that is remembered of a stream beside its counts; the same blocks lead to the same state.

    Attributes:
        log_bets: [12], of evidence of a fall.
        log_recovery: [12], of evidence of recovery; at rest unless an alert is open.
        level: what is open; it stays until recovery resolves it.
        opened: the block at whose end the open alert was raised first; none where nothing is open.
    """

    log_bets: NDArray[np.float64] = field(default_factory=_rest)
    log_recovery: NDArray[np.float64] = field(default_factory=_rest)
    level: Level = Level.QUIET
    opened: int | None = None

    @property
    def log_evidence(self) -> float:
        """Log R, in blocks."""
        return float(sum_evidence(self.log_bets))

    @property
    def log_recovered(self) -> float:
        """Log R of recovery, in blocks."""
        return float(sum_evidence(self.log_recovery))

    def rebase(self) -> StreamState:
        """The state when another baseline takes over: what is open stays open, evidence begins anew."""
        return StreamState(level=self.level, opened=self.opened)


def step_state(
    state: StreamState,
    *,
    block: int,
    growth: NDArray[np.float64],
    recovery: NDArray[np.float64],
    log_page: float,
    may_page: bool = True,
) -> tuple[StreamState, EventKind | None]:
    """The state after a block that has traces, and what happened at its end.

    Args:
        state: before it.
        block: which.
        growth: [12], S of the block.
        recovery: [12], S of the block in the mirror.
        log_page: threshold of a page, log of blocks.
        may_page: false for a provisional baseline and for scores that are good near a target: warns only.
    """
    log_bets = _advance(state.log_bets, growth, log_page)
    if state.level is not Level.QUIET:
        log_recovery = _advance(state.log_recovery, recovery, LOG_RESOLVE)
        if float(sum_evidence(log_recovery)) >= LOG_RESOLVE:
            return StreamState(), EventKind.RESOLVE
        state = replace(state, log_recovery=log_recovery)
    state = replace(state, log_bets=log_bets)
    log_evidence = state.log_evidence
    if may_page and state.level is not Level.PAGED and log_evidence >= log_page:
        return _open(state, Level.PAGED, block), EventKind.PAGE
    if state.level is Level.QUIET and log_evidence >= LOG_WARN:
        return _open(state, Level.WARNED, block), EventKind.WARN
    return state, None


def _advance(
    log_bets: NDArray[np.float64], growth: NDArray[np.float64], log_threshold: float
) -> NDArray[np.float64]:
    after = advance_evidence(
        log_bets[None], growth[None], has_traces=np.ones(1, np.bool_), log_threshold=log_threshold
    )
    return np.asarray(after[0], dtype=np.float64)


def _open(state: StreamState, level: Level, block: int) -> StreamState:
    opened = block if state.opened is None else state.opened
    return replace(state, level=level, opened=opened, log_recovery=_rest())
