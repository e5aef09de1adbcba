"""What running evaluations hold of their judges' budgets: reserved before a call, settled when the run ends.

A reservation lives in the row of its evaluation. Whatever ends the run settles it, in the same transaction,
with what was really spent; one whose worker died returns when somebody else takes the evaluation up. So
nothing leaks, and only calls that were in flight when a worker was killed are not counted.

Locks are always taken in one order: the evaluation, the day, the hour.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from ragsonde_schemas.spending import Period, Reservation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.spending import Limit, WorstCase

PERIODS = (Period.DAY, Period.HOUR)
"""In the order in which they are locked."""

_OPEN = """
INSERT INTO judge_spend (judge, period, starts_at) VALUES (%(judge)s, %(period)s, %(starts_at)s)
ON CONFLICT DO NOTHING
"""

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

NOTE = """
UPDATE evaluation SET reserved_calls = %(calls)s, reserved_tokens = %(tokens)s, reserved_usd = %(usd)s,
    reserved_at = %(now)s
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND starts = %(starts)s AND state = 'running' AND reserved_at IS NULL
RETURNING true
"""

NOTE_CHECK = """
UPDATE check_result SET reserved_calls = %(calls)s, reserved_tokens = %(tokens)s, reserved_usd = %(usd)s,
    reserved_at = %(now)s
WHERE check_id = %(check_id)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s AND day = %(day)s
  AND starts = %(starts)s AND judged_at IS NULL AND reserved_at IS NULL
RETURNING true
"""

HELD = "reserved_calls, reserved_tokens, reserved_usd, reserved_at"
"""Columns of `evaluation`: what it holds, all null where it holds nothing."""

_EMPTY = """
UPDATE evaluation SET reserved_calls = NULL, reserved_tokens = NULL, reserved_usd = NULL, reserved_at = NULL
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
"""

EMPTY_CHECK = """
UPDATE check_result SET reserved_calls = NULL, reserved_tokens = NULL, reserved_usd = NULL, reserved_at = NULL
WHERE check_id = %(check_id)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s AND day = %(day)s
"""

_SETTLE = """
UPDATE judge_spend SET
    reserved_calls = reserved_calls - %(held_calls)s, reserved_tokens = reserved_tokens - %(held_tokens)s,
    reserved_usd = greatest(0, reserved_usd - %(held_usd)s), runs = runs + %(runs)s,
    spent_calls = spent_calls + %(calls)s,
    spent_tokens = spent_tokens + %(tokens)s, spent_usd = spent_usd + %(usd)s,
    unpriced_calls = unpriced_calls + %(unpriced)s
WHERE judge = %(judge)s AND period = %(period)s AND starts_at = %(starts_at)s
"""


class NoRoomError(Exception):
    """There is no room for a reservation; whatever the transaction did is undone.

    Attributes:
        reservation: BUSY or SPENT.
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
    evaluation: Mapping[str, Any],
    *,
    worst: WorstCase,
    limits: Sequence[Limit],
    now: datetime,
    note: str = NOTE,
) -> bool:
    """Reserves the worst case within all limits.

    Args:
        connection: in a transaction.
        evaluation: the columns that name it, and `starts`, which names the claim.
        worst: of one evaluation; its cost counts as 0 only where no limit is in dollars.
        limits: of the judge, at most one a period.
        now: decides which periods are meant.
        note: writes the reservation into the row that holds it: NOTE, or NOTE_CHECK for a check.

    Returns:
        False when this claim does not run the evaluation any more, or holds something already.

    Raises:
        NoRoomError: it does not fit: the block must end with it, so that nothing stays reserved.
    """
    amounts = {"calls": worst.calls, "tokens": worst.tokens, "usd": worst.cost_usd or 0.0}
    if connection.execute(note, {**evaluation, **amounts, "now": now}).fetchone() is None:
        return False
    by_period = {limit.period: limit for limit in limits}
    for period in PERIODS:
        # a period without a limit is kept too: it is what the limit of tomorrow's settings starts from
        limit = by_period.get(period)
        columns = {
            **amounts,
            **_name_period(evaluation["judge"], period, now=now),
            "most_calls": limit and limit.calls,
            "most_tokens": limit and limit.tokens,
            "most_usd": limit and limit.usd,
        }
        connection.execute(_OPEN, columns)
        if connection.execute(_HOLD, columns).fetchone() is None:
            room = connection.execute(_HAS_ROOM, columns).fetchone()
            raise NoRoomError(Reservation.BUSY if room and room[0] else Reservation.SPENT)
    return True


def give_back(
    connection: Connection[TupleRow],
    evaluation: Mapping[str, Any],
    held: Sequence[Any],
    *,
    calls: Sequence[JudgeCall],
    empty: str = _EMPTY,
) -> None:
    """Empties an evaluation's reservation and counts what was spent instead, in the periods it was made in.

    What a call does not tell of its tokens or its price counts as its part of the reservation: an unknown
    price is not 0.

    Args:
        connection: in a transaction that has locked the evaluation's row.
        evaluation: the columns that name it.
        held: the columns HELD of its row; null where it holds nothing.
        calls: of the run; none where it ended before anything was asked, or its worker died.
        empty: takes the reservation out of the row; EMPTY_CHECK for a check.
    """
    reserved_calls, reserved_tokens, reserved_usd, reserved_at = held
    if reserved_at is None:
        return
    connection.execute(empty, evaluation)
    answered = [call for call in calls if call.is_answered]
    parts = max(1, reserved_calls)
    _settle(
        connection,
        evaluation["judge"],
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


def charge(
    connection: Connection[TupleRow], judge: str, calls: Sequence[JudgeCall], *, now: datetime
) -> None:
    """Counts the calls of a run whose reservation somebody else has given back: they were paid, too."""
    answered = [call for call in calls if call.is_answered]
    if calls:
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
