"""Running an evaluation: claim it, then finish or postpone it; only the claim that runs it may end it.

A claim is named by `starts`, which only grows. Who took over an expired lease has another one, so that the
first runner, should it still live, finds that it may not write any more: there are never two sets of rows.

All times are the injected clock's, leases too, and no statement asks Postgres for the time: what the clock of
one host has set, that of another compares. Hosts whose clocks differ by more than the margin of the lease
(30 s) may judge a trace twice, which costs money; rows stay single, as no clock takes part in guarding them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.earlier_verdicts import read_found, send_search
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.kept_results import find_kept, make_room
from ragsonde.storage.reservations import EVALUATION, HELD, charge, give_back
from ragsonde.storage.result_rows import (
    ADD_SPENDING,
    JudgedResult,
    insert_calls,
    insert_results,
    sum_spending,
)
from ragsonde.storage.text_keeping import ALL_TEXTS, drop_own_texts
from ragsonde.storage.trace_rows import (
    SELECT_TRACE,
    list_key_columns,
    rebuild_remains,
    rebuild_trace,
    to_utc,
)
from ragsonde.storage.transitions import count_attempts, list_sources, require_end
from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.text_keeping import TextRule
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.evaluation import EvaluationKey, EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall

_IS_DUE = """(state = ANY(%(sources)s) AND next_attempt_at <= %(now)s
       OR state = 'running' AND lease_until < %(now)s)"""

_CLAIM = f"""
UPDATE evaluation
SET state = 'running', starts = starts + 1, unfinished_starts = unfinished_starts + 1,
    lease_until = %(lease_until)s
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND (unfinished_starts = 0 OR NOT %(spares_suspects)s)
  AND {_IS_DUE}
RETURNING starts, unfinished_starts, attempts, coalesce(reopened_at, created_at), backfill_id,
    {HELD}
"""  # noqa: S608  # constants

_IS_SUSPECT = f"""
SELECT FROM evaluation
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND unfinished_starts > 0 AND {_IS_DUE}
"""

_OF_THIS_RUN = f"""WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s
  AND revision = %(revision)s AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND starts = %(starts)s AND unfinished_starts > 0 AND (state = ANY(%(sources)s) OR state = 'superseded')
RETURNING state, calls, {HELD}"""
"""Superseded with unfinished starts: a newer revision came while we were running."""

_FINISH = f"""
UPDATE evaluation
SET state = CASE WHEN state = 'superseded' THEN state ELSE %(state)s END, cause = %(cause)s,
    unfinished_starts = 0, attempts = attempts + %(attempts)s, lease_until = NULL, next_attempt_at = NULL,
    queued_until = NULL, finished_at = %(now)s, {ADD_SPENDING},
    scores_born = CASE WHEN %(keeps_scores)s THEN greatest(scores_born, %(scores)s) ELSE %(scores)s END
{_OF_THIS_RUN}
"""  # noqa: S608  # constants

_POSTPONE = f"""
UPDATE evaluation
SET state = CASE WHEN state = 'superseded' THEN state ELSE 'waiting' END, cause = %(cause)s,
    unfinished_starts = 0, lease_until = NULL, queued_until = NULL,
    next_attempt_at = CASE WHEN state = 'superseded' THEN NULL ELSE %(until)s END,
    finished_at = CASE WHEN state = 'superseded' THEN %(now)s END, {ADD_SPENDING}
{_OF_THIS_RUN}
"""  # noqa: S608  # constants

_SHED = f"""
UPDATE evaluation
SET state = CASE WHEN state = 'superseded' THEN state ELSE 'shed' END, cause = %(cause)s,
    unfinished_starts = 0, lease_until = NULL, queued_until = NULL, next_attempt_at = NULL,
    finished_at = %(now)s
{_OF_THIS_RUN}
"""  # noqa: S608  # constants
"""Running, and so by way of waiting: nothing was asked."""


class _Start(NamedTuple):
    starts: int
    unfinished_starts: int
    attempts: int
    waiting_since: datetime
    backfill_id: int | None


def claim_evaluation(
    engine: Engine,
    key: EvaluationKey,
    *,
    now: datetime,
    lease_seconds: int,
    spares_suspects: bool,
    texts: TextRule = ALL_TEXTS,
) -> ClaimedEvaluation | None:
    """The evaluation, running under a lease of ours, or None when it is not due or somebody else has it.

    Where retention has dropped its texts the claim is `is_expired`. With `spares_suspects` None also where an
    earlier run of it never ended.

    Raises:
        DatabaseLostError: it may be claimed or not; the sweeper finds it when the lease is over.
        GivenUpError: it is not claimed.
    """
    columns = {
        **_list_columns(key),
        "now": now,
        "lease_until": now + timedelta(seconds=lease_seconds),
        "sources": list_sources(EvaluationState.RUNNING),
        "spares_suspects": spares_suspects,
    }
    with pipelined_transaction(engine) as connection:
        claim = connection.execute(_CLAIM, columns)
        stored = connection.cursor(row_factory=dict_row).execute(SELECT_TRACE, columns)
        search = send_search(connection, columns)
        found = claim.fetchone()
        if found is None:
            return None
        size = len(_Start._fields)
        start, held = _Start(*found[:size]), found[size:]
        give_back(connection, columns, held, calls=(), holder=EVALUATION)
        kept = None if start.backfill_id is None else find_kept(connection, columns)
    row = stored.fetchone()
    is_expired = row is None or not row["has_texts"]
    return ClaimedEvaluation(
        key=key,
        trace=rebuild_remains(key.trace, row) if row is None or is_expired else rebuild_trace(row),
        unfinished_starts=start.unfinished_starts,
        attempts=start.attempts,
        waiting_since=to_utc(start.waiting_since),
        starts=start.starts,
        is_expired=is_expired,
        backfill_id=start.backfill_id,
        earlier=texts.reduce_verdicts(read_found(search)),
        kept=kept and kept.model_copy(update={"assessment": texts.reduce_verdicts(kept.assessment)}),
    )


def is_suspect(engine: Engine, key: EvaluationKey, *, now: datetime) -> bool:
    """True when the evaluation is due, and an earlier run of it never ended.

    Raises:
        DatabaseLostError, GivenUpError: nothing is known.
    """
    columns = {**_list_columns(key), "now": now, "sources": list_sources(EvaluationState.RUNNING)}
    with pipelined_transaction(engine) as connection:
        return connection.execute(_IS_SUSPECT, columns).fetchone() is not None


def finish_evaluation(
    engine: Engine,
    claimed: ClaimedEvaluation,
    result: EvaluationResult,
    *,
    now: datetime,
    texts: TextRule = ALL_TEXTS,
) -> EvaluationState | None:
    """The state it ended in, or None when this claim does not run it any more and nothing was written.

    Raises:
        DatabaseLostError: nothing was written, or it is not known; call again.
        GivenUpError: nothing was written.
        psycopg.errors.CheckViolation: a partition of its day is missing.
        ValueError: no run ends in the result's state.
    """
    require_end(result.state, judge=claimed.key.judge)
    columns = {**_list_columns(claimed.key), "now": now, "content_hash": claimed.trace.content_hash}
    end = {
        "starts": claimed.starts,
        "state": result.state.value,
        "cause": result.cause,
        "attempts": count_attempts(result),
        "sources": list_sources(result.state),
        "scores": len(result.outcomes),
        "keeps_scores": claimed.kept is not None and claimed.kept.scorer is not None,
    }
    with pipelined_transaction(engine) as connection:
        state = _end_run(connection, _FINISH, {**columns, **end}, calls=result.calls)
        if state is not None:
            make_room(connection, columns, kept=claimed.kept, result=result)
            insert_results(
                connection, columns, [JudgedResult(claimed.key.judge, claimed.key.fingerprint, result)]
            )
            drop_own_texts(connection, columns, texts)
    return state


def postpone_evaluation(
    engine: Engine,
    claimed: ClaimedEvaluation,
    *,
    now: datetime,
    until: datetime,
    cause: Cause,
    calls: Sequence[JudgeCall],
) -> bool:
    """True when it waits again, False when this claim does not run it any more or a newer revision has come.

    Raises:
        DatabaseLostError: it may be postponed or not; the sweeper finds it when the lease is over.
        GivenUpError: it is not postponed.
        psycopg.errors.CheckViolation: a partition of its day is missing.
    """
    columns = {
        **_list_columns(claimed.key),
        "now": now,
        "until": until,
        "cause": cause.value,
        "starts": claimed.starts,
        "sources": list_sources(EvaluationState.WAITING),
    }
    with pipelined_transaction(engine) as connection:
        state = _end_run(connection, _POSTPONE, columns, calls=calls)
    return state is EvaluationState.WAITING


def shed_evaluation(
    engine: Engine,
    claimed: ClaimedEvaluation,
    *,
    now: datetime,
    cause: Cause,
    texts: TextRule = ALL_TEXTS,
) -> bool:
    """True when it is shed, False when this claim does not run it any more or a newer revision has come.

    Raises:
        DatabaseLostError: it may be shed or not; the sweeper finds it when the lease is over.
        GivenUpError: it is not shed.
    """
    columns = {
        **_list_columns(claimed.key),
        "now": now,
        "cause": cause.value,
        "starts": claimed.starts,
        "sources": list_sources(EvaluationState.WAITING),
    }
    with pipelined_transaction(engine) as connection:
        state = _end_run(connection, _SHED, columns, calls=())
        drop_own_texts(connection, columns, texts)
    return state is EvaluationState.SHED


def _end_run(
    connection: Connection[TupleRow], statement: str, columns: dict[str, Any], *, calls: Sequence[JudgeCall]
) -> EvaluationState | None:
    """The state in which the statement leaves the evaluation, with the calls of the run; None: not ours."""
    ended = connection.execute(statement, {**columns, **sum_spending(calls)._asdict()}).fetchone()
    if ended is None:
        charge(connection, columns["judge"], calls, now=columns["now"])
        return None
    state, total, *held = ended
    give_back(connection, columns, held, calls=calls, holder=EVALUATION)
    insert_calls(connection, columns, calls, total=total)
    return EvaluationState(state)


def _list_columns(key: EvaluationKey) -> dict[str, Any]:
    return {
        **list_key_columns(key.trace, revision=key.revision),
        "judge": key.judge,
        "fingerprint": key.fingerprint,
    }
