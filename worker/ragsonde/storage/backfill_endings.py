"""Evaluations of backfills that have ended or are put back: each is counted once, whoever is killed.

The row of a backfill counts them in the transaction that forgets them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde_schemas.evaluation import REDONE

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

_SAME = " AND ".join(f"e.{name} = i.{name}" for name in EVALUATION_KEY)

_I_KEY = ", ".join(f"i.{name}" for name in EVALUATION_KEY)
_PUT_BACK = f"""
UPDATE evaluation e
SET state = CASE WHEN i.was = ANY(%(redone)s) THEN 'shed' ELSE coalesce(i.was, 'shed') END,
    cause = CASE WHEN i.was IS NULL THEN %(cause)s ELSE i.was_cause END,
    sample_rate = coalesce(i.was_sample_rate, e.sample_rate),
    next_attempt_at = NULL, queued_until = NULL, finished_at = coalesce(i.was_finished_at, %(now)s)
FROM backfill_item i
WHERE i.backfill_id = %(id)s AND {_SAME} AND e.state = 'waiting'
RETURNING e.trace_id
"""  # noqa: S608  # constants
"""What had ended is shed until it is counted: only so it is told from what ended anew."""

_COUNT_ENDED = f"""
WITH ended AS (
    SELECT i.ctid AS place, {_I_KEY}, i.was, i.was_cause, i.was_finished_at, i.was_sample_rate, e.state,
        coalesce(e.calls, 0) - i.calls_before AS calls,
        coalesce(e.tokens_in, 0) - i.tokens_in_before AS tokens_in,
        coalesce(e.tokens_out, 0) - i.tokens_out_before AS tokens_out,
        coalesce(e.cost_usd, 0) - i.cost_before AS cost_usd
    FROM backfill_item i LEFT JOIN evaluation e ON {_SAME}
    WHERE i.backfill_id = %(id)s AND (e.state IS NULL OR e.state NOT IN ('waiting', 'running'))
      AND coalesce(e.unfinished_starts, 0) = 0
    FOR UPDATE OF i
), put_back AS (
    UPDATE evaluation e SET state = i.was, cause = i.was_cause, finished_at = i.was_finished_at,
        sample_rate = coalesce(i.was_sample_rate, e.sample_rate)
    FROM ended i WHERE {_SAME} AND i.state = 'shed' AND e.state = i.state AND i.was IS NOT NULL
), gone AS (
    DELETE FROM backfill_item i USING ended WHERE i.ctid = ended.place
), sums AS (
    SELECT count(*) FILTER (WHERE state = 'scored') AS scored,
        count(*) FILTER (WHERE state = 'not_evaluable') AS not_evaluable,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE state IS NULL OR state NOT IN ('scored', 'not_evaluable', 'failed')) AS left_,
        count(*) FILTER (WHERE state = 'shed') AS shed,
        coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens_in), 0) AS tokens_in,
        coalesce(sum(tokens_out), 0) AS tokens_out, coalesce(sum(cost_usd), 0) AS cost_usd
    FROM ended
)
UPDATE backfill b SET scored = b.scored + s.scored, not_evaluable = b.not_evaluable + s.not_evaluable,
    failed = b.failed + s.failed,
    -- a backfill of files is told of its evaluations only here
    planned = b.planned + CASE WHEN b.judge IS NULL
        THEN s.scored + s.not_evaluable + s.failed + s.left_ ELSE 0 END,
    "left" = b."left" + s.left_, calls = b.calls + s.calls,
    tokens_in = b.tokens_in + s.tokens_in, tokens_out = b.tokens_out + s.tokens_out,
    cost_usd = b.cost_usd + s.cost_usd
FROM sums s WHERE b.id = %(id)s
RETURNING s.shed
"""  # noqa: S608  # constants


def put_back(engine: Engine, number: int, *, cause: str | None, now: datetime) -> int:
    """How many evaluations that wait were put back to what they were; one born for the backfill is shed.

    Args:
        engine: of this process.
        number: of the backfill, which has ended.
        cause: of those that are shed.
        now: of the same clock as the stores'.

    Raises:
        DatabaseLostError: nothing was put back, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        if not _lock(connection, number):
            return 0
        columns = {"id": number, "cause": cause, "now": now, "redone": _list_redone()}
        return len(connection.execute(_PUT_BACK, columns).fetchall())


def count_ended(engine: Engine, number: int) -> int:
    """How many evaluations were shed of those that have ended since the last count.

    Each is counted in the backfill's row and forgotten here, in one transaction. What was shed, for the
    backfill could not afford it, becomes in it what it was: live outcomes are not rewritten by a plan's cap.

    Raises:
        DatabaseLostError: nothing was counted, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        if not _lock(connection, number):
            return 0
        row = connection.execute(_COUNT_ENDED, {"id": number}).fetchone()
    return 0 if row is None else int(row[0])


def _lock(connection: Connection[TupleRow], number: int) -> bool:
    locked = connection.execute("SELECT FROM backfill WHERE id = %(id)s FOR UPDATE", {"id": number})
    return locked.fetchone() is not None


def _list_redone() -> list[str]:
    return sorted(state.value for state in REDONE)
