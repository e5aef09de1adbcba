"""What running evaluations hold of their judges' budgets: reserved before a call, settled when the run ends.

A reservation lives in the row of its evaluation or check. Whatever ends the run settles it, in the same
transaction, with what was really spent; one whose worker died returns when somebody else takes the evaluation
up, or where nobody will, by `stale_reservations`. So nothing leaks, and only calls that were in flight when
a worker was killed are not counted.

Calls never exceed a limit, as no run makes more than it has reserved. Tokens and dollars are reserved for
long replies, not for the longest that are allowed (`judging.worst_case`), so that what is under way when the
last of a limit is given out may exceed it.

Locks are always taken in one order: the backfill, the row, the day, the hour.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde_schemas.spending import Limit, Period, Reservation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.spending import WorstCase

PERIODS = (Period.DAY, Period.HOUR)
"""In the order in which they are locked."""

CHECK_KEY = ("check_id", "judge", "fingerprint", "day")

_OPEN = """
INSERT INTO judge_spend (judge, period, starts_at) VALUES (%(judge)s, %(period)s, %(starts_at)s)
ON CONFLICT DO NOTHING
"""

_REOPEN = """
INSERT INTO judge_spend (judge, period, starts_at)
SELECT %(judge)s, %(period)s, %(starts_at)s WHERE EXISTS (SELECT FROM judge_spend WHERE judge = %(judge)s)
ON CONFLICT DO NOTHING
"""
"""A judge that never had a budget has no rows, and needs none."""

_HOLD = """
UPDATE judge_spend
SET reserved_calls = reserved_calls + %(calls)s, reserved_tokens = reserved_tokens + %(tokens)s,
    reserved_usd = reserved_usd + %(usd)s
WHERE judge = %(judge)s AND period = %(period)s AND starts_at = %(starts_at)s
  AND spent_calls + reserved_calls + %(calls)s <= coalesce(%(most_calls)s, 'Infinity'::float8)
  AND spent_tokens + reserved_tokens + %(tokens)s <= coalesce(%(most_tokens)s, 'Infinity'::float8)
  AND spent_usd + reserved_usd + %(usd)s <= coalesce(%(most_usd)s, 'Infinity'::float8)
RETURNING true
"""

_HAS_ROOM = """
SELECT spent_calls + %(calls)s <= coalesce(%(most_calls)s, 'Infinity'::float8)
   AND spent_tokens + %(tokens)s <= coalesce(%(most_tokens)s, 'Infinity'::float8)
   AND spent_usd + %(usd)s <= coalesce(%(most_usd)s, 'Infinity'::float8)
FROM judge_spend WHERE judge = %(judge)s AND period = %(period)s AND starts_at = %(starts_at)s
"""
"""Were it not for what others hold."""

HELD = "reserved_calls, reserved_tokens, reserved_usd, reserved_at"
"""Columns of a row: what it holds, all null where it holds nothing."""


class Holder(NamedTuple):
    """A table whose rows hold reservations.

    Attributes:
        note: the statement that writes a reservation into the row of a running claim that has none.
        empty: the one that takes it out.
    """

    note: str
    empty: str


def _write_holder(table: str, *, key: Sequence[str], is_running: str) -> Holder:
    whose = " AND ".join(f"{name} = %({name})s" for name in key)
    return Holder(
        note=f"""
UPDATE {table} SET reserved_calls = %(calls)s, reserved_tokens = %(tokens)s, reserved_usd = %(usd)s,
    reserved_at = %(now)s
WHERE {whose} AND starts = %(starts)s AND {is_running} AND reserved_at IS NULL
RETURNING true
""",  # noqa: S608  # constants
        empty=f"""
UPDATE {table} SET reserved_calls = NULL, reserved_tokens = NULL, reserved_usd = NULL, reserved_at = NULL
WHERE {whose}
""",  # noqa: S608  # constants
    )


EVALUATION = _write_holder("evaluation", key=EVALUATION_KEY, is_running="state = 'running'")
CHECK = _write_holder("check_result", key=CHECK_KEY, is_running="judged_at IS NULL")

_SETTLE = """
UPDATE judge_spend SET
    reserved_calls = reserved_calls - %(held_calls)s, reserved_tokens = reserved_tokens - %(held_tokens)s,
    reserved_usd = greatest(0, reserved_usd - %(held_usd)s), runs = runs + %(runs)s,
    spent_calls = spent_calls + %(calls)s,
    spent_tokens = spent_tokens + %(tokens)s, spent_usd = spent_usd + %(usd)s,
    unpriced_calls = unpriced_calls + %(unpriced)s
WHERE judge = %(judge)s AND period = %(period)s AND starts_at = %(starts_at)s
"""


class PacedLimit(NamedTuple):
    """A limit, and the share of it that may be spent until the end of this hour."""

    limit: Limit
    share: float

    def cut(self, share: float) -> PacedLimit:
        """A part of it, as if its judge had no more."""
        return PacedLimit(self.limit.scaled(share), self.share)

    @property
    def until_now(self) -> Limit:
        """What may be spent until the end of this hour."""
        return self.limit.scaled(self.share)


class NoRoomError(Exception):
    """There is no room for a reservation; whatever the transaction did is undone.

    Attributes:
        reservation: BUSY, PACED or SPENT.
    """

    def __init__(self, reservation: Reservation) -> None:
        self.reservation = reservation
        super().__init__(reservation.value)


def begin_period(period: Period, *, now: datetime) -> datetime:
    """When the present period began, in UTC."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if period is Period.HOUR else hour.replace(hour=0)


def hold(
    connection: Connection[TupleRow],
    row: Mapping[str, Any],
    *,
    worst: WorstCase,
    limits: Sequence[PacedLimit],
    now: datetime,
    holder: Holder,
) -> bool:
    """Reserves the worst case within all limits, as they are paced.

    Args:
        connection: in a transaction.
        row: the columns that name what is to be judged, and `starts`, which names the claim.
        worst: of one evaluation; its cost counts as 0 only where no limit is in dollars.
        limits: of the judge, at most one a period.
        now: decides which periods are meant.
        holder: whose table the row is in.

    Returns:
        False when this claim does not run it any more, or holds something already.

    Raises:
        NoRoomError: it does not fit: the block must end with it, so that nothing stays reserved.
    """
    amounts = {"calls": worst.calls, "tokens": worst.tokens, "usd": worst.cost_usd or 0.0}
    if connection.execute(holder.note, {**row, **amounts, "now": now}).fetchone() is None:
        return False
    by_period = {paced.limit.period: paced for paced in limits}
    for period in PERIODS:
        # a period without a limit is kept too: it is what the limit of tomorrow's settings starts from
        paced = by_period.get(period, PacedLimit(Limit(period=period), share=1.0))
        columns = {**amounts, **_name_period(row["judge"], period, now=now)}
        connection.execute(_OPEN, columns)
        if connection.execute(_HOLD, {**columns, **_list_most(paced.until_now)}).fetchone() is None:
            raise NoRoomError(_explain(connection, columns, paced))
    return True


def _explain(connection: Connection[TupleRow], columns: Mapping[str, Any], paced: PacedLimit) -> Reservation:
    """Why there is no room: others hold it, its hour has not come yet, or it is spent."""
    for limit, answer in ((paced.until_now, Reservation.BUSY), (paced.limit, Reservation.PACED)):
        room = connection.execute(_HAS_ROOM, {**columns, **_list_most(limit)}).fetchone()
        if room and room[0]:
            return answer
    return Reservation.SPENT


def _list_most(limit: Limit) -> dict[str, Any]:
    return {"most_calls": limit.calls, "most_tokens": limit.tokens, "most_usd": limit.usd}


def give_back(
    connection: Connection[TupleRow],
    row: Mapping[str, Any],
    held: Sequence[Any],
    *,
    calls: Sequence[JudgeCall],
    holder: Holder,
) -> None:
    """Empties a row's reservation and counts what was spent instead, in the periods it was made in.

    What a call does not tell of its tokens or its price counts as its part of the reservation: an unknown
    price is not 0.

    Args:
        connection: in a transaction that has locked the row.
        row: the columns that name it.
        held: the columns HELD of its row; null where it holds nothing.
        calls: of the run; none where it ended before anything was asked, or its worker died.
        holder: whose table the row is in.
    """
    reserved_calls, reserved_tokens, reserved_usd, reserved_at = held
    if reserved_at is None:
        return
    connection.execute(holder.empty, row)
    answered = [call for call in calls if call.is_answered]
    parts = max(1, reserved_calls)
    _settle(
        connection,
        row["judge"],
        now=reserved_at,
        held_calls=reserved_calls,
        held_tokens=reserved_tokens,
        held_usd=reserved_usd,
        runs=min(1, len(calls)),
        calls=len(calls),
        tokens=sum(_count_tokens(call, otherwise=reserved_tokens // parts) for call in answered),
        usd=sum(reserved_usd / parts if call.cost_usd is None else call.cost_usd for call in answered),
        unpriced=sum(call.cost_usd is None for call in answered),
    )


def release(connection: Connection[TupleRow], judge: str, held: Sequence[Any]) -> None:
    """Gives back what a row held that is there no more; whatever its run still asks is charged when it ends.

    Args:
        connection: in the transaction that deleted the row.
        judge: whose budget it is.
        held: the columns HELD of the row; it held something.
    """
    reserved_calls, reserved_tokens, reserved_usd, reserved_at = held
    _settle(
        connection,
        judge,
        now=reserved_at,
        held_calls=reserved_calls,
        held_tokens=reserved_tokens,
        held_usd=reserved_usd,
        runs=0,
        calls=0,
        tokens=0,
        usd=0.0,
        unpriced=0,
    )


def charge(
    connection: Connection[TupleRow], judge: str, calls: Sequence[JudgeCall], *, now: datetime
) -> None:
    """Counts the calls of a run whose reservation somebody else has given back: they were paid, too.

    They count in the present hour and day, which may be others than those of the reservation.
    """
    answered = [call for call in calls if call.is_answered]
    if calls:
        for period in PERIODS:
            connection.execute(_REOPEN, _name_period(judge, period, now=now))
        _settle(
            connection,
            judge,
            now=now,
            held_calls=0,
            held_tokens=0,
            held_usd=0.0,
            runs=0,
            calls=len(calls),
            tokens=sum(_count_tokens(call, otherwise=0) for call in answered),
            usd=sum(call.cost_usd or 0.0 for call in answered),
            unpriced=sum(call.cost_usd is None for call in answered),
        )


def _settle(connection: Connection[TupleRow], judge: str, *, now: datetime, **amounts: float) -> None:
    for period in PERIODS:
        connection.execute(_SETTLE, {**amounts, **_name_period(judge, period, now=now)})


def _count_tokens(call: JudgeCall, *, otherwise: int) -> int:
    if call.tokens_in is None or call.tokens_out is None:
        return otherwise
    return call.tokens_in + call.tokens_out


def _name_period(judge: str, period: Period, *, now: datetime) -> dict[str, Any]:
    return {"judge": judge, "period": period.value, "starts_at": begin_period(period, now=now)}
