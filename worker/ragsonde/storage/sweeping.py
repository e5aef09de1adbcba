"""The sweeper's look into the store: evaluations that are due and in nobody's hands, how much is gathered."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.tables import OpenRecordRow
from ragsonde.storage.trace_rows import to_utc
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

_LONGEST_DUE = f"""
SELECT min(since) FROM (
    (SELECT next_attempt_at AS since FROM evaluation
     WHERE state = 'waiting' AND next_attempt_at <= %(now)s AND {_IS_LIVE} ORDER BY next_attempt_at LIMIT 1)
    UNION ALL
    (SELECT lease_until FROM evaluation
     WHERE state = 'running' AND lease_until < %(now)s AND {_IS_LIVE} ORDER BY lease_until LIMIT 1)
    UNION ALL
    (SELECT next_close_at FROM open_record
     WHERE next_close_at <= %(now)s AND (lease_until IS NULL OR lease_until <= %(now)s)
     ORDER BY next_close_at LIMIT 1)
) due
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


def find_longest_due(engine: Engine, *, now: datetime) -> datetime | None:
    """Since when the work that has been due longest has been due; None: nothing is.

    Work is due that nobody has begun: an evaluation to be run or taken from a worker that is gone, a gathered
    trace to be closed. What is put off (its judge is away, its budget spent) is due when its time has come.
    What a backfill has under way is left out: it is slow on purpose.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        row = connection.execute(_LONGEST_DUE, {"now": now}).fetchone()
    return None if row is None or row[0] is None else to_utc(row[0])
