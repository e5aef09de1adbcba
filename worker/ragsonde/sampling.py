"""Which traces a judge looks at: a draw by hash, the same for all judges, and a rate by the hour."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde_schemas.spending import Limit, Spent


HOURS_A_DAY = 24


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
        last_hour: traces of the app in the last hour; with none there is nothing to raise.
        affordable_share: of what would be spent at full rate until the budget begins anew, the share that it
            can still pay; None = no budget, or not known yet.
    """
    rate = Rate(configured, RateCause.CONFIGURED)
    if floor is not None and last_hour > 0 and floor / last_hour > configured:
        rate = Rate(min(1.0, floor / last_hour), RateCause.FLOOR)
    if affordable_share is not None and affordable_share < 1:
        return Rate(rate.value * max(0.0, affordable_share), RateCause.BUDGET)
    return rate


class FixedRates:
    """Rates that never change.

    Args:
        rates: by judge, 0..1.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        self._rates = dict(rates)

    def find(self, app: str, judge: str) -> float:  # noqa: ARG002 - the same for all apps
        """The judge's rate, whatever the app."""
        return self._rates[judge]


def measure_spent(spent: Spent, limit: Limit) -> float:
    """The largest of what is spent or reserved over what is allowed."""
    pairs = (
        (spent.calls_in_all, limit.calls),
        (spent.tokens_in_all, limit.tokens),
        (spent.usd_in_all, limit.usd),
    )
    return max((amount / most for amount, most in pairs if most), default=0.0)


def foresee_traces(last_hour: int, shares: Sequence[float] | None, *, hour: int) -> float:
    """How many traces will come from `hour` until midnight, by the last hour's count and the profile."""
    if shares is None:
        return last_hour * float(HOURS_A_DAY - hour)
    past = shares[hour - 1]
    return last_hour * sum(shares[hour:]) / past if past else float(last_hour)


def foresee_share(spent: Spent, limit: Limit, *, runs: float) -> float:
    """Which share of so many evaluations the rest of a limit can pay, at what one has cost; at most 1."""
    if not spent.runs or runs <= 0:
        return 1.0
    pairs = (
        (spent.calls, spent.calls_in_all, limit.calls),
        (spent.tokens, spent.tokens_in_all, limit.tokens),
        (spent.usd, spent.usd_in_all, limit.usd),
    )
    shares = [
        max(0.0, most - in_all) / (settled / spent.runs * runs)
        for settled, in_all, most in pairs
        if most is not None and settled
    ]
    return min(1.0, *shares) if shares else 1.0
