"""Taking in a trace: new, revision, duplicate or one too many; all of it in one transaction.

Deliveries of the same record take turns: an advisory lock on its name is held until the commit, so that what
is decided by looking is still true when it is written, with any number of workers. Usually that is two round
trips: lock and look, then all inserts and the commit.

Who runs an evaluation at once need not claim it in a transaction of its own: it is born running, by way of
waiting, under the same lease and with the same count of starts as if it had been claimed right after.
"""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.earlier_verdicts import read_found, send_search
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.erasure import erase_within
from ragsonde.storage.result_rows import JudgedResult, insert_calls, insert_results, sum_spending
from ragsonde.storage.text_keeping import ALL_TEXTS, drop_own_texts, insert_texts
from ragsonde.storage.tombstones import (
    HOLD_OFF,
    Named,
    is_ahead,
    list_names,
    read_forgotten,
    refuse_trace,
    select_forgotten,
)
from ragsonde.storage.trace_rows import (
    INSERT_TRACE,
    list_key_columns,
    list_trace_columns,
    to_utc,
)
from ragsonde.storage.transitions import UNFINISHED, count_attempts, list_sources, require_birth
from ragsonde_schemas.evaluation import Admission, ClaimedEvaluation, EvaluationKey, EvaluationState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.text_keeping import TextRule
    from ragsonde_schemas.evaluation import PlannedEvaluation
    from ragsonde_schemas.trace import Trace, TraceKey

_LOCK = "SELECT pg_advisory_xact_lock(%(lock)s)"

_FIND = """
SELECT day, revision, content_hash, occurred_at, EXISTS (
    SELECT FROM evaluation e
    WHERE e.trace_id = trace.trace_id AND e.app = trace.app AND e.record_key = trace.record_key
      AND e.day = trace.day AND e.revision = trace.revision AND e.state <> 'superseded') AS counts
FROM trace
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s
  AND day BETWEEN %(first_day)s AND %(last_day)s
ORDER BY day DESC, revision DESC
"""

_FIND_PENDING = """
SELECT judge, fingerprint FROM evaluation
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision = %(revision)s AND state = ANY(%(unfinished)s) AND backfill_id IS NULL
ORDER BY judge, fingerprint
"""

_SUPERSEDE = """
UPDATE evaluation
SET state = 'superseded', lease_until = CASE WHEN state = 'running' THEN lease_until END,
    next_attempt_at = NULL, queued_until = NULL,
    finished_at = CASE WHEN state = 'running' THEN NULL ELSE coalesce(finished_at, %(now)s) END
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision < %(revision)s AND state = ANY(%(sources)s)
RETURNING revision, judge, fingerprint
"""
"""A running one keeps its count of unfinished starts: by it the run still going on may end it later. It keeps
its lease: when that is over and nobody has ended it, what it holds of a budget is given back."""

_COUNT_SCORES = """
SELECT count(*) FROM score
JOIN unnest(%(revisions)s::smallint[], %(judges)s::text[], %(fingerprints)s::text[])
    AS old(revision, judge, fingerprint) USING (revision, judge, fingerprint)
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
"""
"""A statement of its own: its snapshot has the scores of a run that ended while the other waited for it."""

_INSERT_EVALUATIONS = """
INSERT INTO evaluation (
    trace_id, app, record_key, revision, day, judge, fingerprint, state, cause, sample_rate, created_at,
    attempts, next_attempt_at, queued_until, starts, unfinished_starts, lease_until, finished_at, calls,
    tokens_in, tokens_out, cost_usd, backfill_id)
SELECT %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, judge, fingerprint, state, cause,
    sample_rate, %(now)s, attempts,
    CASE WHEN is_unfinished THEN %(now)s END,
    CASE WHEN is_unfinished AND backfill_id IS NULL THEN %(lease_until)s END,
    is_claimed::int, is_claimed::int, CASE WHEN is_claimed THEN %(lease_until)s END,
    CASE WHEN NOT is_unfinished THEN %(now)s END, calls, tokens_in, tokens_out, cost_usd, backfill_id
FROM unnest(
    %(judges)s::text[], %(fingerprints)s::text[], %(states)s::text[], %(causes)s::text[],
    %(sample_rates)s::float8[], %(attempts)s::int[], %(calls)s::int[], %(tokens_in)s::int[],
    %(tokens_out)s::int[], %(costs_usd)s::float8[], %(backfill_ids)s::bigint[]
) AS r(judge, fingerprint, state, cause, sample_rate, attempts, calls, tokens_in, tokens_out, cost_usd,
    backfill_id),
LATERAL (SELECT state = ANY(%(unfinished)s) AS is_unfinished, state = 'running' AS is_claimed) AS stands
"""
"""`queued_until` is as far as a lease: so long a new evaluation is left to the task that admitted it."""

_LEAVE_TO_BACKFILL = """
INSERT INTO backfill_item (trace_id, app, record_key, revision, day, judge, fingerprint, backfill_id)
SELECT trace_id, app, record_key, revision, day, judge, fingerprint, backfill_id FROM evaluation
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision = %(revision)s AND state = 'waiting' AND backfill_id IS NOT NULL
"""


class _Stored(NamedTuple):
    day: date
    revision: int
    content_hash: str
    occurred_at: datetime
    counts: bool


def admit_trace(
    engine: Engine,
    trace: Trace,
    planned: Sequence[PlannedEvaluation],
    *,
    is_newest: bool,
    claims_first: bool,
    now: datetime,
    lease_seconds: int,
    max_revisions: int,
    texts: TextRule = ALL_TEXTS,
) -> Admission:
    """What became of the trace; `ports.TraceStore.admit` says what that can be.

    A guessed time gives way to the one that is stored: the first receipt is the better guess, and so `day` is
    always the date of `occurred_at`.

    Raises:
        DatabaseLostError: nothing was stored, or it is not known; call again.
        psycopg.errors.CheckViolation: the day has no partition yet.
        ValueError: an evaluation is planned in a state that none is born in.
    """
    for evaluation in planned:
        require_birth(evaluation.state, judge=evaluation.judge)
    key = trace.key
    with pipelined_transaction(engine) as connection:
        connection.execute(HOLD_OFF)
        connection.execute(_LOCK, {"lock": hash_record(key)})
        asked = _ask_forgotten(connection, trace, now=now)
        stored = _find_revisions(connection, trace)
        if forgotten := read_forgotten(asked):
            refuse_trace(connection, trace.trace_id, app=trace.app, forgotten=forgotten)
            _erase_earlier(connection, trace, forgotten)
            return Admission(kind="forgotten", key=key, revision=0)
        # a delivery may be an old one come again; what was gathered from spans is what is known by now
        twins = [row for row in stored[:1] if row.counts] if is_newest else stored
        twin = next((row for row in twins if row.content_hash == trace.content_hash), None)
        newest = twin or (stored[0] if stored else None)
        if newest is not None and trace.occurred_at_guessed:
            key = key.model_copy(update={"day": newest.day})
            trace = trace.model_copy(update={"occurred_at": to_utc(newest.occurred_at)})
        if twin is not None:
            last = max(row.revision for row in stored if row.day == twin.day)
            pending = _find_pending(connection, key, revision=last)
            return Admission(kind="duplicate", key=key, revision=twin.revision, pending=pending)
        revision = 1 if newest is None else newest.revision + 1
        if revision > max_revisions:
            return Admission(kind="over_limit", key=key, revision=revision - 1)
        columns = {
            **list_trace_columns(texts.reduce_trace(trace)),
            "day": key.day,
            "revision": revision,
            "now": now,
            "lease_until": now + timedelta(seconds=lease_seconds),
            "evaluations_born": len(planned),
        }
        superseded = supersede_revisions(connection, columns) or 0 if revision > 1 else 0
        pending = _list_waiting(planned, key, revision=revision)
        first = pending[0] if claims_first and pending else None
        _insert(connection, columns, planned, texts, first=first)
        search = first and send_search(connection, {**columns, "fingerprint": first.fingerprint})
    return Admission(
        kind="new" if revision == 1 else "revision",
        key=key,
        revision=revision,
        pending=pending if first is None else pending[1:],
        claimed=ClaimedEvaluation(
            key=first,
            trace=trace,
            unfinished_starts=1,
            attempts=0,
            waiting_since=now,
            earlier=texts.reduce_verdicts(read_found(search)),
        )
        if first and search
        else None,
        superseded=superseded,
    )


def hash_record(key: TraceKey) -> int:
    """A 64-bit name of the record for the advisory lock; two records with the same one merely take turns."""
    name = f"{key.app}\x1f{key.trace_id}\x1f{key.record_key}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)


def _erase_earlier(connection: Connection[TupleRow], trace: Trace, forgotten: Sequence[str]) -> None:
    """Takes along what was stored of a trace before anything of it named somebody who was erased."""
    scopes = [name.split("\x1f")[1] for name in forgotten if not name.startswith(f"{Named.TRACE}\x1f")]
    if scopes:
        erase_within(connection, [trace.trace_id], app=None if "all" in scopes else trace.app)


def _ask_forgotten(connection: Connection[TupleRow], trace: Trace, *, now: datetime) -> Cursor[TupleRow]:
    values = [
        (kind, value)
        for kind, value in (
            (Named.TRACE, trace.trace_id),
            (Named.USER, trace.user_id),
            (Named.SESSION, trace.session_id),
        )
        if value is not None
    ]
    return select_forgotten(
        connection,
        list_names(values, app=trace.app),
        occurred_at=trace.occurred_at,
        is_guessed=trace.occurred_at_guessed or is_ahead(trace.occurred_at, now=now),
    )


def _find_revisions(connection: Connection[TupleRow], trace: Trace) -> list[_Stored]:
    """The stored revisions, newest first; for a guessed time those of the day before and after too.

    After, as the clock of this worker may have been put back, or run behind that of another.
    """
    day, doubt = trace.key.day, timedelta(days=1 if trace.occurred_at_guessed else 0)
    parameters = {
        "trace_id": trace.trace_id,
        "app": trace.app,
        "record_key": trace.record_key,
        "first_day": day - doubt,
        "last_day": day + doubt,
    }
    return [_Stored(*row) for row in connection.execute(_FIND, parameters).fetchall()]


def _find_pending(
    connection: Connection[TupleRow], key: TraceKey, *, revision: int
) -> tuple[EvaluationKey, ...]:
    parameters = {**list_key_columns(key, revision=revision), "unfinished": sorted(UNFINISHED)}
    return tuple(
        EvaluationKey(trace=key, revision=revision, judge=judge, fingerprint=fingerprint)
        for judge, fingerprint in connection.execute(_FIND_PENDING, parameters).fetchall()
    )


def supersede_revisions(connection: Connection[TupleRow], columns: dict[str, Any]) -> int | None:
    """How many scores the revisions below `revision` had; None where no evaluation of them counted.

    The caller holds the record's lock.
    """
    parameters = {**columns, "sources": list_sources(EvaluationState.SUPERSEDED)}
    old = connection.execute(_SUPERSEDE, parameters).fetchall()
    if not old:
        return None
    revisions, judges, fingerprints = (list(column) for column in zip(*old, strict=True))
    of_old = {"revisions": revisions, "judges": judges, "fingerprints": fingerprints}
    row = connection.execute(_COUNT_SCORES, {**columns, **of_old}).fetchone()
    return 0 if row is None else int(row[0])


def _list_waiting(
    planned: Sequence[PlannedEvaluation], key: TraceKey, *, revision: int
) -> tuple[EvaluationKey, ...]:
    return tuple(
        EvaluationKey(
            trace=key, revision=revision, judge=evaluation.judge, fingerprint=evaluation.fingerprint
        )
        for evaluation in planned
        if evaluation.state is EvaluationState.WAITING and evaluation.backfill_id is None
    )


def _insert(
    connection: Connection[TupleRow],
    columns: dict[str, Any],
    planned: Sequence[PlannedEvaluation],
    texts: TextRule,
    *,
    first: EvaluationKey | None,
) -> None:
    connection.execute(INSERT_TRACE, columns)
    if planned:
        connection.execute(_INSERT_EVALUATIONS, {**columns, **_list_evaluation_columns(planned, first=first)})
    if any(one.backfill_id is not None for one in planned):
        connection.execute(_LEAVE_TO_BACKFILL, columns)
    results = [
        JudgedResult(evaluation.judge, evaluation.fingerprint, evaluation.result)
        for evaluation in planned
        if evaluation.result is not None
    ]
    insert_results(connection, columns, results)
    for judge, fingerprint, result in results:
        whose = {**columns, "judge": judge, "fingerprint": fingerprint}
        insert_calls(connection, whose, result.calls, total=len(result.calls))
    insert_texts(connection, columns, texts)
    if columns["revision"] > 1:
        drop_own_texts(connection, columns, texts)


def _list_evaluation_columns(
    planned: Sequence[PlannedEvaluation], *, first: EvaluationKey | None
) -> dict[str, list[Any]]:
    """The new rows; the one of `first` is claimed already."""
    claimed = first and (first.judge, first.fingerprint)
    results = [evaluation.result for evaluation in planned]
    spending = [result and sum_spending(result.calls) for result in results]
    return {
        "judges": [evaluation.judge for evaluation in planned],
        "fingerprints": [evaluation.fingerprint for evaluation in planned],
        "states": [
            (EvaluationState.RUNNING if (one.judge, one.fingerprint) == claimed else one.state).value
            for one in planned
        ],
        "unfinished": sorted(UNFINISHED),
        "causes": [result and result.cause and result.cause.value for result in results],
        "sample_rates": [evaluation.sample_rate for evaluation in planned],
        "attempts": [count_attempts(result) for result in results],
        "calls": [spent and spent.calls for spent in spending],
        "tokens_in": [spent and spent.tokens_in for spent in spending],
        "tokens_out": [spent and spent.tokens_out for spent in spending],
        "costs_usd": [spent and spent.cost_usd for spent in spending],
        "backfill_ids": [evaluation.backfill_id for evaluation in planned],
    }
