"""What asking a judge costs, and whether a budget has room for it."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from ragsonde_schemas.value import Value

_DIGITS = 6
"""A third of 24 calls is 8 of them, although a third is no float."""


class WorstCase(Value):
    """The most that one evaluation is expected to ask of a provider, a second try and a repair included.

    Attributes:
        calls: at most so many; it is never more.
        tokens: sent and received, all calls together, for long replies; the longest allowed may take more.
        cost_usd: of these tokens; None = the price is not known, which is not 0.
    """

    calls: int
    tokens: int
    cost_usd: float | None


class Period(StrEnum):
    """How long a limit holds; both begin by the clock of UTC."""

    HOUR = "hour"
    DAY = "day"


PERIOD_SPANS = {Period.HOUR: timedelta(hours=1), Period.DAY: timedelta(days=1)}


class Limit(Value):
    """The most that a judge may spend in one period; None = no limit.

    Attributes:
        usd: in US dollars; then a call whose price is not known may not be made.
    """

    period: Period
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def scaled(self, share: float) -> Limit:
        """The same for a part of the period; whole calls and tokens, rounded down."""
        return Limit(
            period=self.period,
            calls=None if self.calls is None else int(round(self.calls * share, _DIGITS)),
            tokens=None if self.tokens is None else int(round(self.tokens * share, _DIGITS)),
            usd=None if self.usd is None else self.usd * share,
        )


class Spent(Value):
    """What a judge has spent in a period, and what running evaluations hold beside it.

    Attributes:
        runs: evaluations that were settled with at least one call.
        usd: of the calls whose price is known, and a part of the reservation for the others.
    """

    runs: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    reserved_calls: int = 0
    reserved_tokens: int = 0
    reserved_usd: float = 0.0

    @property
    def calls_in_all(self) -> int:
        """Spent and reserved."""
        return self.calls + self.reserved_calls

    @property
    def tokens_in_all(self) -> int:
        """Spent and reserved."""
        return self.tokens + self.reserved_tokens

    @property
    def usd_in_all(self) -> float:
        """Spent and reserved."""
        return self.usd + self.reserved_usd


class Reservation(StrEnum):
    """What a budget says to the worst case of an evaluation."""

    HELD = "held"
    """it is reserved, or the judge has no budget: go on"""
    BUSY = "busy"
    """others hold what is left: it may come back, ask again"""
    PACED = "paced"
    """the share of the hours until now is given out, the day has room: ask again in a later hour"""
    SPENT = "spent"
    """there is not enough left in this period"""
    CAPPED = "capped"
    """the backfill that it belongs to has not enough left of its own calls or dollars"""
