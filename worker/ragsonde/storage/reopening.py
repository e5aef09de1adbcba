"""Opening again what had ended as failed: `failed -> waiting`, by a person's command only (ADR 16).

An evaluation's error rows and its assessment go in the same transaction, so that the next run writes its own
and nothing is there twice; what was asked of providers, and paid, stays. A gathered trace that was given up
is due again, as long as its spans are kept.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragsonde.storage.dirty_marks import mark_records
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde.storage.trace_rows import list_key_columns
from ragsonde.storage.transitions import list_reopenable
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.evaluation import EvaluationKey

_THIS_ONE = " AND ".join(f"{name} = %({name})s" for name in EVALUATION_KEY)

_REOPEN = f"""
UPDATE evaluation SET state = 'waiting', cause = NULL, unfinished_starts = 0, lease_until = NULL,
    finished_at = NULL, next_attempt_at = %(now)s, queued_until = %(queued_until)s, reopened_at = %(now)s
WHERE {_THIS_ONE} AND state = ANY(%(sources)s)
  AND EXISTS (SELECT FROM trace_text t
    WHERE t.trace_id = evaluation.trace_id AND t.app = evaluation.app
      AND t.record_key = evaluation.record_key AND t.revision = evaluation.revision
      AND t.day = evaluation.day)
RETURNING true
"""  # noqa: S608  # constants
_DELETE_SCORES = f"DELETE FROM score WHERE {_THIS_ONE}"  # noqa: S608  # constants
_DELETE_ASSESSMENT = f"DELETE FROM assessment WHERE {_THIS_ONE}"  # noqa: S608  # constants
_LOOK = f"SELECT state FROM evaluation WHERE {_THIS_ONE}"  # noqa: S608  # constants

_REOPEN_SPANS = """
UPDATE open_record SET next_close_at = %(now)s, queued_until = %(queued_until)s, lease_until = NULL,
    unfinished_claims = 0,
    closed_version = CASE WHEN admitted = '[]' AND version = closed_version THEN 0 ELSE closed_version END
WHERE trace_id = %(trace_id)s AND (lease_until IS NULL OR lease_until <= %(now)s)
RETURNING true
"""
"""One of which nothing was admitted was given up, not closed: it is read as if it had never been."""
_LOOK_FOR_SPANS = "SELECT FROM open_record WHERE trace_id = %(trace_id)s"


class Reopening(StrEnum):
    """What became of the wish to open something again."""

    REOPENED = "reopened"
    NOT_FAILED = "not_failed"
    """It waits, runs or has ended otherwise: there is nothing to open."""
    SUPERSEDED = "superseded"
    """A newer revision counts instead."""
    EXPIRED = "expired"
    """Its texts have been dropped: nobody could judge it."""
    GONE = "gone"
    """There is no such row, or no more."""


def reopen_evaluation(
    engine: Engine, key: EvaluationKey, *, now: datetime, queued_seconds: int = 0
) -> Reopening:
    """What became of it, in one transaction of its own.

    Args:
        engine: of this process.
        key: of an evaluation that failed.
        now: of the same clock as the stores'.
        queued_seconds: for so long the sweeper leaves it to who publishes its key.

    Raises:
        DatabaseLostError: it may be open again or not; call again.
    """
    with pipelined_transaction(engine) as connection:
        return reopen_evaluation_within(connection, key, now=now, queued_seconds=queued_seconds)


def reopen_evaluation_within(
    connection: Connection[TupleRow], key: EvaluationKey, *, now: datetime, queued_seconds: int
) -> Reopening:
    """The same as a part of the caller's transaction."""
    columns: dict[str, Any] = {
        **list_key_columns(key.trace, revision=key.revision),
        "judge": key.judge,
        "fingerprint": key.fingerprint,
        "now": now,
        "queued_until": now + timedelta(seconds=queued_seconds),
        "sources": list_reopenable(),
    }
    if connection.execute(_REOPEN, columns).fetchone() is not None:
        connection.execute(_DELETE_SCORES, columns)
        connection.execute(_DELETE_ASSESSMENT, columns)
        mark_records(connection, [key.trace])
        return Reopening.REOPENED
    found = connection.execute(_LOOK, columns).fetchone()
    if found is None:
        return Reopening.GONE
    state = EvaluationState(found[0])
    if state in list_reopenable():
        return Reopening.EXPIRED
    return Reopening.SUPERSEDED if state is EvaluationState.SUPERSEDED else Reopening.NOT_FAILED


def reopen_spans_within(
    connection: Connection[TupleRow], trace_id: str, *, now: datetime, queued_seconds: int
) -> Reopening:
    """Makes a gathered trace due again, in the caller's transaction; one that is being closed is left alone.

    Args:
        connection: in a transaction.
        trace_id: under which its spans are kept.
        now: of the same clock as the stores'.
        queued_seconds: for so long the sweeper leaves it to who publishes its key.
    """
    columns = {"trace_id": trace_id, "now": now, "queued_until": now + timedelta(seconds=queued_seconds)}
    if connection.execute(_REOPEN_SPANS, columns).fetchone() is not None:
        return Reopening.REOPENED
    is_there = connection.execute(_LOOK_FOR_SPANS, columns).fetchone() is not None
    return Reopening.NOT_FAILED if is_there else Reopening.GONE
