"""What judges may spend, over all workers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from ragsonde.storage.backfill_caps import require_room
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.reservations import CHECK, EVALUATION, Holder, NoRoomError, PacedLimit, hold
from ragsonde.storage.retries import Retries
from ragsonde.storage.trace_rows import list_key_columns
from ragsonde_schemas.errors import JudgePausedError
from ragsonde_schemas.spending import Period, Reservation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.check import ClaimedCheck
    from ragsonde_schemas.evaluation import ClaimedEvaluation
    from ragsonde_schemas.spending import Limit, WorstCase


class OnPause(Protocol):
    """Pauses a judge for all workers, and tells why."""

    def __call__(self, judge: str, fingerprint: str, *, message: str) -> None:
        """May not raise."""
        ...


BACKFILL_SHARE = 0.5
"""A backfill may spend while all that its judge has spent, live traffic included, is below this share of what
its budget allows until now: where live traffic needs more than that, a backfill gets nothing."""

PROFILE_AGE = timedelta(minutes=1)
"""So long a judge's hourly profile is not read again; the monitor writes one a day."""
_EVEN = tuple(1 / 24 for _ in range(24))

_NO_PRICE = (
    "its budget is in dollars and the price of its model, or of a fallback, is not known: set `prices`, or a "
    "budget in calls or tokens"
)

_PROFILE = "SELECT hour_shares FROM judge_state WHERE judge = %(judge)s AND fingerprint = %(fingerprint)s"


class PostgresBudgets:
    """The `ports.Budgets` over the table `judge_spend`.

    A day's limit is spread over the day by the hours of the last week: by the end of each hour no more may be
    spent than the share of a day's traces that come until then. Before a week is known, all hours are alike.
    What finds its hour's share given out is PACED, not SPENT: the hours to come have room for it.

    A backfill has half of each limit at most, and its own calls and dollars: CAPPED when those are used.

    Args:
        engine: of this process.
        clock: tells which hour and day it is.
        limits: by judge; a judge that is not in it has no budget.
        on_pause: told that a judge cannot be asked until somebody acts, with why.
        retries: for what Postgres gives up on.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        limits: Mapping[str, Sequence[Limit]],
        on_pause: OnPause,
        retries: Retries | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._limits = dict(limits)
        self._on_pause = on_pause
        self._retries = retries or Retries()
        self._profiles: dict[tuple[str, str], tuple[datetime, Sequence[float]]] = {}

    def reserve(self, claimed: ClaimedEvaluation, estimate: Callable[[], WorstCase]) -> Reservation:
        """Holds the worst case of a claimed evaluation until its run ends.

        An evaluation that is ours no more is HELD too: what it does is not written anyway.

        Raises:
            JudgePausedError: the budget is in dollars and the price is not known.
            DatabaseLostError: Postgres is away.
        """
        key = claimed.key
        row = {
            **list_key_columns(key.trace, revision=key.revision),
            "judge": key.judge,
            "fingerprint": key.fingerprint,
            "starts": claimed.starts,
        }
        return self._reserve(row, estimate, holder=EVALUATION, backfill_id=claimed.backfill_id)

    def reserve_check(self, claimed: ClaimedCheck, estimate: Callable[[], WorstCase]) -> Reservation:
        """The same for a claimed check.

        Raises:
            JudgePausedError: the budget is in dollars and the price is not known.
            DatabaseLostError: Postgres is away.
        """
        row = {**claimed.key.model_dump(), "starts": claimed.starts}
        return self._reserve(row, estimate, holder=CHECK)

    def _reserve(
        self,
        row: Mapping[str, Any],
        estimate: Callable[[], WorstCase],
        *,
        holder: Holder,
        backfill_id: int | None = None,
    ) -> Reservation:
        judge = row["judge"]
        limits = self._limits.get(judge, ())
        if not limits and backfill_id is None:
            return Reservation.HELD
        worst = estimate()
        if worst.cost_usd is None and any(limit.usd is not None for limit in limits):
            self._on_pause(judge, row["fingerprint"], message=_NO_PRICE)
            raise JudgePausedError(judge, _NO_PRICE)
        now = self._clock.now()
        paced = [self._pace(limit, row, now=now) for limit in limits]
        if backfill_id is not None:
            paced = [limit.cut(BACKFILL_SHARE) for limit in paced]

        def attempt() -> Reservation:
            try:
                with pipelined_transaction(self._engine) as connection:
                    is_capped = backfill_id is not None and require_room(connection, backfill_id, worst=worst)
                    if limits or is_capped:
                        hold(connection, row, worst=worst, limits=paced, now=now, holder=holder)
            except NoRoomError as error:
                return error.reservation
            return Reservation.HELD

        return self._retries.run(attempt)

    def _pace(self, limit: Limit, row: Mapping[str, Any], *, now: datetime) -> PacedLimit:
        if limit.period is not Period.DAY:
            return PacedLimit(limit, share=1.0)
        shares = self._find_profile((row["judge"], row["fingerprint"]), now=now)
        is_last = now.hour == len(shares) - 1
        share = 1.0 if is_last else min(1.0, sum(shares[: now.hour + 1]))
        return PacedLimit(limit, share=share)

    def _find_profile(self, key: tuple[str, str], *, now: datetime) -> Sequence[float]:
        read_at, shares = self._profiles.get(key, (None, _EVEN))
        if read_at is not None and now - read_at < PROFILE_AGE:
            return shares
        columns = {"judge": key[0], "fingerprint": key[1]}

        def read() -> Sequence[float]:
            with pipelined_transaction(self._engine) as connection:
                row = connection.execute(_PROFILE, columns).fetchone()
            return _EVEN if row is None or row[0] is None else tuple(row[0])

        shares = self._retries.run(read)
        self._profiles[key] = (now, shares)
        return shares
