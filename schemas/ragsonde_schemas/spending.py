"""What asking a judge costs, and whether a budget has room for it."""

from __future__ import annotations

from enum import StrEnum

from ragsonde_schemas.value import Value


class WorstCase(Value):
    """The most that one evaluation may ask of a provider: every call, a longer reply and a repair included.

    Attributes:
        calls: at most so many.
        tokens: sent and received, all calls together.
        cost_usd: None = the price is not known, which is not 0.
    """

    calls: int
    tokens: int
    cost_usd: float | None


class Reservation(StrEnum):
    """What a budget says to the worst case of an evaluation."""

    HELD = "held"
    """it is reserved, or the judge has no budget: go on"""
    BUSY = "busy"
    """others hold what is left: it may come back, ask again"""
    SPENT = "spent"
    """there is not enough left in this period"""
