"""How much of a budget is spent, and how far the rest will go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.spending import Period

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.spending import Limit, Spent

HOURS_A_DAY = 24
NEARLY_SPENT = 0.8
"""The share of a limit from which on people are warned."""


def measure_spent(spent: Spent, limit: Limit) -> float:
    """The largest of what is spent or reserved over what is allowed."""
    pairs = (
        (spent.calls_in_all, limit.calls),
        (spent.tokens_in_all, limit.tokens),
        (spent.usd_in_all, limit.usd),
    )
    return max((amount / most for amount, most in pairs if most), default=0.0)


def foresee_runs(last_hour: float, shares: Sequence[float] | None, *, hour: int, period: Period) -> float:
    """How many evaluations will come from the beginning of `hour` until the period ends.

    Args:
        last_hour: those of the hour before, as they would be at the rate of this one.
        shares: of a day's traces, by hour of the day (UTC), 24 that sum to 1; None = not known: all hours
            are alike.
        hour: of the day, 0..23 (UTC).
        period: ends with this hour, or at midnight.
    """
    end = hour + 1 if period is Period.HOUR else HOURS_A_DAY
    if shares is None:
        return last_hour * (end - hour)
    past = shares[hour - 1]
    return last_hour * sum(shares[hour:end]) / past if past else last_hour


def foresee_share(limit: Limit, *, spent: Spent, known: Spent, runs: float) -> float:
    """Which share of so many evaluations the rest of a limit can pay; at most 1.

    Args:
        limit: of one period.
        spent: in this period.
        known: what evaluations have cost lately, in whatever period; without any, nothing is foreseen: 1.
        runs: those to come in this period.
    """
    if not known.runs or runs <= 0:
        return 1.0
    pairs = (
        (known.calls, spent.calls_in_all, limit.calls),
        (known.tokens, spent.tokens_in_all, limit.tokens),
        (known.usd, spent.usd_in_all, limit.usd),
    )
    shares = [
        max(0.0, most - in_all) / (settled / known.runs * runs)
        for settled, in_all, most in pairs
        if most is not None and settled
    ]
    return min(1.0, *shares) if shares else 1.0
