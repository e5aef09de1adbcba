"""The sweeper's look into the store: evaluations that are due and in nobody's hands, how much is gathered."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.tables import OpenRecordRow
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.trace import TraceKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

_IS_LIVE = """(backfill_id IS NULL OR NOT EXISTS (
        SELECT FROM backfill_item i
        WHERE i.trace_id = evaluation.trace_id AND i.app = evaluation.app
          AND i.record_key = evaluation.record_key AND i.revision = evaluation.revision
          AND i.day = evaluation.day AND i.judge = evaluation.judge
          AND i.fingerprint = evaluation.fingerprint))"""
"""What a backfill has under way is published at its rate, on the queue of backfills."""

_TAKE_DUE = f"""
WITH abandoned AS (
    SELECT trace_id, app, record_key, revision, day, judge, fingerprint FROM evaluation
    WHERE state = 'running' AND lease_until < %(now)s AND (queued_until IS NULL OR queued_until <= %(now)s)
      AND {_IS_LIVE}
    ORDER BY lease_until LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), due AS (
    SELECT trace_id, app, record_key, revision, day, judge, fingerprint FROM evaluation
    WHERE state = 'waiting' AND next_attempt_at <= %(now)s
      AND (queued_until IS NULL OR queued_until <= %(now)s) AND {_IS_LIVE}
    ORDER BY next_attempt_at LIMIT (SELECT %(limit)s - count(*) FROM abandoned) FOR UPDATE SKIP LOCKED
), taken AS (
    SELECT * FROM abandoned UNION ALL SELECT * FROM due
)
UPDATE evaluation SET queued_until = %(queued_until)s
FROM taken
WHERE evaluation.trace_id = taken.trace_id AND evaluation.app = taken.app
  AND evaluation.record_key = taken.record_key AND evaluation.revision = taken.revision
  AND evaluation.day = taken.day AND evaluation.judge = taken.judge
  AND evaluation.fingerprint = taken.fingerprint
RETURNING evaluation.app, evaluation.trace_id, evaluation.record_key, evaluation.day, evaluation.revision,
    evaluation.judge, evaluation.fingerprint
"""  # noqa: S608  # constants of this file


def take_due(engine: Engine, *, now: datetime, limit: int, queued_for_seconds: int) -> list[EvaluationKey]:
    """Keys of evaluations to publish: due again, or running under a lease that is over; those come first.

    They are not claimed: who works on them claims them. Until `queued_for_seconds` are over they are not
    taken again, so that a publish that got lost is repeated and one that did not is not.

    Args:
        engine: of this process.
        now: of the same clock as the stores'.
        limit: the most keys to take.
        queued_for_seconds: how long they are left to the queue.

    Raises:
        DatabaseLostError: some may be taken; they come again when the time is over.
    """
    parameters = {"now": now, "limit": limit, "queued_until": now + timedelta(seconds=queued_for_seconds)}
    with pipelined_transaction(engine) as connection:
        rows = connection.execute(_TAKE_DUE, parameters).fetchall()
    return [
        EvaluationKey(
            trace=TraceKey(app=app, trace_id=trace_id, record_key=record_key, day=day),
            revision=revision,
            judge=judge,
            fingerprint=fingerprint,
        )
        for app, trace_id, record_key, day, revision, judge, fingerprint in rows
    ]


def count_open(engine: Engine) -> int:
    """How many traces are being gathered: not closed yet, or open again for late spans.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = select(func.count()).where(OpenRecordRow.next_close_at.is_not(None))
    with translating_losses(), engine.connect() as connection:
        return connection.execute(query).scalar_one()
