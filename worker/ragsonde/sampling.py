"""Which traces a judge looks at: a draw by hash, the same for all judges, and a rate by the hour."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import NamedTuple


def draw(*, app: str, trace_id: str) -> float:
    """The trace's draw in [0, 1): smaller rates keep subsets of what larger ones keep."""
    digest = hashlib.sha256(f"{app}\x1f{trace_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def is_sampled(*, app: str, trace_id: str, rate: float) -> bool:
    """True when a judge with this rate looks at the trace."""
    return draw(app=app, trace_id=trace_id) < rate


class RateCause(StrEnum):
    """Why a rate is what it is."""

    CONFIGURED = "configured"
    FLOOR = "floor"
    """raised, so that enough traces of an app are judged in an hour"""
    BUDGET = "budget"
    """lowered, so that the budget lasts"""


class Rate(NamedTuple):
    """A rate for one hour, and why."""

    value: float
    cause: RateCause


def choose_rate(
    configured: float, *, floor: int | None, last_hour: int, affordable_share: float | None = None
) -> Rate:
    """The rate of an app's traces under a judge for the coming hour.

    `min(1, max(configured, floor / last hour's count))`, then times what the budget can pay of it.

    Args:
        configured: 0..1.
        floor: so many traces shall be judged in an hour; None = no floor.
        last_hour: traces of the app in the last hour that had any; 0 = not known, then nothing is raised.
        affordable_share: of what would be spent at this rate until the budget begins anew, the share that it
            can still pay; None = no budget, or not known yet.
    """
    rate = Rate(configured, RateCause.CONFIGURED)
    if floor is not None and last_hour > 0 and floor / last_hour > configured:
        rate = Rate(min(1.0, floor / last_hour), RateCause.FLOOR)
    if affordable_share is not None and affordable_share < 1:
        return Rate(rate.value * max(0.0, affordable_share), RateCause.BUDGET)
    return rate
