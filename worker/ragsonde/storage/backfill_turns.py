"""Evaluations of a backfill whose turn it is: taken at its rate, to be published."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.backfill_candidates import Place
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.trace import TraceKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

_SAME = " AND ".join(f"e.{name} = i.{name}" for name in EVALUATION_KEY)
_E_KEY = ", ".join(f"e.{name}" for name in EVALUATION_KEY)

HOLD_RUNNING = "SELECT FROM backfill WHERE id = %(id)s AND state = 'running' FOR UPDATE"

_READ_PLACE = "SELECT place, paced_at FROM backfill WHERE id = %(id)s"

_TAKE_TURN = f"""
WITH turn AS (
    SELECT {_E_KEY} FROM backfill_item i JOIN evaluation e ON {_SAME}
    WHERE i.backfill_id = %(id)s
      AND (e.state = 'waiting' AND e.next_attempt_at <= %(now)s
        OR e.state = 'running' AND e.lease_until < %(now)s)
      AND (e.queued_until IS NULL OR e.queued_until <= %(now)s)
    ORDER BY e.next_attempt_at, e.day, e.trace_id LIMIT %(limit)s FOR UPDATE OF e SKIP LOCKED
)
UPDATE evaluation e SET queued_until = %(queued_until)s, reopened_at = CASE
    WHEN e.reopened_at IS NULL OR e.cause IN ('budget_spent', 'judge_retired') THEN %(now)s
    ELSE e.reopened_at END
FROM turn i WHERE {_SAME}
RETURNING e.app, e.trace_id, e.record_key, e.day, e.revision, e.judge, e.fingerprint
"""  # noqa: S608  # constants
"""What had not its turn yet has not waited for its judge, nor what waited for money."""

_PACE = "UPDATE backfill SET paced_at = %(paced_at)s WHERE id = %(id)s"


class Pace(NamedTuple):
    """Where a backfill stands between two turns.

    Attributes:
        place: up to where its range was looked at; None before the beginning.
        paced_at: up to when its rate has been used.
    """

    place: Place | None
    paced_at: datetime


def read_pace(engine: Engine, number: int) -> Pace | None:
    """Where a backfill stands; None where there is none of that number.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        row = connection.execute(_READ_PLACE, {"id": number}).fetchone()
    if row is None:
        return None
    place, paced_at = row
    return Pace(None if place is None else Place.from_json(place), paced_at)


def take_turns(
    engine: Engine, number: int, *, now: datetime, limit: int, queued_for_seconds: int, paced_at: datetime
) -> list[EvaluationKey]:
    """Keys of evaluations to publish now: due, and in nobody's hands; as `sweeping.take_due` for live ones.

    Args:
        engine: of this process.
        number: of the backfill.
        now: of the same clock as the stores'.
        limit: the most keys to take.
        queued_for_seconds: how long they are left to the queue.
        paced_at: up to when the rate is used with this.

    Raises:
        DatabaseLostError: some may be taken; they come again when their time is over.
    """
    columns = {
        "id": number,
        "now": now,
        "limit": limit,
        "queued_until": now + timedelta(seconds=queued_for_seconds),
        "paced_at": paced_at,
    }
    with pipelined_transaction(engine) as connection:
        if connection.execute(HOLD_RUNNING, columns).fetchone() is None:
            return []
        rows = connection.execute(_TAKE_TURN, columns).fetchall()
        connection.execute(_PACE, columns)
    return [
        EvaluationKey(
            trace=TraceKey(app=app, trace_id=trace_id, record_key=record_key, day=day),
            revision=revision,
            judge=judge,
            fingerprint=fingerprint,
        )
        for app, trace_id, record_key, day, revision, judge, fingerprint in rows
    ]
