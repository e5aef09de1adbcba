"""Running an evaluation: claim it, then finish or postpone it; only the claim that runs it may end it.

A claim is named by `starts`, which only grows. Who took over an expired lease has another one, so that the
first runner, should it still live, finds that it may not write any more: there are never two sets of rows.

All times are the injected clock's, leases too, and no statement asks Postgres for the time: what the clock of
one host has set, that of another compares. Hosts whose clocks differ by more than the margin of the lease
(30 s) may judge a trace twice, which costs money; rows stay single, as no clock takes part in guarding them.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.result_rows import JudgedResult, insert_results, sum_spending
from ragsonde.storage.trace_rows import SELECT_TRACE, list_key_columns, rebuild_trace, to_utc
from ragsonde.storage.transitions import list_sources, require_end
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationState

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.evaluation import EvaluationKey, EvaluationResult

logger = logging.getLogger(__name__)

_CLAIM = """
UPDATE evaluation
SET state = 'running', starts = starts + 1, unfinished_starts = unfinished_starts + 1,
    lease_until = %(lease_until)s
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND (state = ANY(%(sources)s) AND next_attempt_at <= %(now)s OR state = 'running' AND lease_until < %(now)s)
RETURNING starts, unfinished_starts, attempts, created_at
"""

_FINISH = """
UPDATE evaluation
SET state = CASE WHEN state = 'superseded' THEN state ELSE %(state)s END, cause = %(cause)s,
    unfinished_starts = 0, lease_until = NULL, next_attempt_at = NULL, queued_until = NULL,
    finished_at = %(now)s, calls = %(calls)s, tokens_in = %(tokens_in)s, tokens_out = %(tokens_out)s,
    cost_usd = %(cost_usd)s
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND starts = %(starts)s AND unfinished_starts > 0 AND (state = ANY(%(sources)s) OR state = 'superseded')
RETURNING state
"""
"""Superseded with unfinished starts: a newer revision came while we were running."""

_POSTPONE = """
UPDATE evaluation
SET state = CASE WHEN state = 'superseded' THEN state ELSE 'waiting' END, cause = %(cause)s,
    unfinished_starts = 0, attempts = attempts + %(burned)s, lease_until = NULL, queued_until = NULL,
    next_attempt_at = CASE WHEN state = 'superseded' THEN NULL ELSE %(until)s END,
    finished_at = CASE WHEN state = 'superseded' THEN %(now)s END
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND starts = %(starts)s AND unfinished_starts > 0 AND (state = ANY(%(sources)s) OR state = 'superseded')
"""


class _Start(NamedTuple):
    starts: int
    unfinished_starts: int
    attempts: int
    created_at: datetime


def claim_evaluation(
    engine: Engine, key: EvaluationKey, *, now: datetime, lease_seconds: int
) -> ClaimedEvaluation | None:
    """The evaluation, running under a lease of ours, or None when it is not due or somebody else has it.

    An evaluation whose texts have been dropped by retention can never be run: it ends here as failed.

    Raises:
        DatabaseLostError: it may be claimed or not; the sweeper finds it when the lease is over.
    """
    columns = {
        **_list_columns(key),
        "now": now,
        "lease_until": now + timedelta(seconds=lease_seconds),
        "sources": list_sources(EvaluationState.RUNNING),
    }
    with pipelined_transaction(engine) as connection:
        claim = connection.execute(_CLAIM, columns)
        texts = connection.cursor(row_factory=dict_row).execute(SELECT_TRACE, columns)
        found = claim.fetchone()
        if found is None:
            return None
        start = _Start(*found)
        row = texts.fetchone()
        if row is None:
            _end_without_texts(connection, columns, start)
            return None
    return ClaimedEvaluation(
        key=key,
        trace=rebuild_trace(row),
        unfinished_starts=start.unfinished_starts,
        attempts=start.attempts,
        waiting_since=to_utc(start.created_at),
        starts=start.starts,
    )


def finish_evaluation(
    engine: Engine, claimed: ClaimedEvaluation, result: EvaluationResult, *, now: datetime
) -> EvaluationState | None:
    """The state it ended in, or None when this claim does not run it any more and nothing was written.

    Raises:
        DatabaseLostError: nothing was written, or it is not known; call again.
        psycopg.errors.CheckViolation: a partition of its day is missing.
        ValueError: no run ends in the result's state.
    """
    require_end(result.state, judge=claimed.key.judge)
    columns = {**_list_columns(claimed.key), "now": now, "content_hash": claimed.trace.content_hash}
    end = {
        "starts": claimed.starts,
        "state": result.state.value,
        "cause": result.cause,
        "sources": list_sources(result.state),
        **sum_spending(result.assessment)._asdict(),
    }
    with pipelined_transaction(engine) as connection:
        ended = connection.execute(_FINISH, {**columns, **end}).fetchone()
        if ended is None:
            return None
        insert_results(
            connection, columns, [JudgedResult(claimed.key.judge, claimed.key.fingerprint, result)]
        )
    return EvaluationState(ended[0])


def postpone_evaluation(
    engine: Engine,
    claimed: ClaimedEvaluation,
    *,
    now: datetime,
    until: datetime,
    cause: Cause,
    burns_attempt: bool,
) -> None:
    """Puts it back to waiting, unless this claim does not run it any more or a newer revision has come.

    Raises:
        DatabaseLostError: it may be postponed or not; the sweeper finds it when the lease is over.
    """
    columns = {
        **_list_columns(claimed.key),
        "now": now,
        "until": until,
        "cause": cause.value,
        "burned": int(burns_attempt),
        "starts": claimed.starts,
        "sources": list_sources(EvaluationState.WAITING),
    }
    with pipelined_transaction(engine) as connection:
        connection.execute(_POSTPONE, columns)


def _end_without_texts(connection: Connection[TupleRow], columns: dict[str, Any], start: _Start) -> None:
    end = {
        "starts": start.starts,
        "state": EvaluationState.FAILED.value,
        "cause": Cause.INTERNAL_ERROR.value,
        "sources": list_sources(EvaluationState.FAILED),
        **sum_spending(None)._asdict(),
    }
    connection.execute(_FINISH, {**columns, **end})
    logger.warning(
        "evaluation_texts_expired",
        extra={"trace_id": columns["trace_id"], "judge": columns["judge"], "day": str(columns["day"])},
    )


def _list_columns(key: EvaluationKey) -> dict[str, Any]:
    return {
        **list_key_columns(key.trace, revision=key.revision),
        "judge": key.judge,
        "fingerprint": key.fingerprint,
    }
