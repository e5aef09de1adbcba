"""Taking in a trace: new, revision, duplicate or one too many; all of it in one transaction.

Deliveries of the same record take turns: an advisory lock on its name is held until the commit, so that what
is decided by looking is still true when it is written, with any number of workers. Usually that is two round
trips: lock and look, then all inserts and the commit.

Who runs an evaluation at once need not claim it in a transaction of its own: it is born running, by way of
waiting, under the same lease and with the same count of starts as if it had been claimed right after.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.earlier_verdicts import read_found, send_search
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.erasure import erase_within
from ragsonde.storage.evaluation_births import insert_evaluations
from ragsonde.storage.record_lock import hash_record
from ragsonde.storage.result_rows import JudgedResult, insert_calls, insert_results
from ragsonde.storage.superseding import supersede_revisions
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
from ragsonde.storage.transitions import UNFINISHED, require_birth
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
        insert_revision(connection, columns, planned, texts, first=first)
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


def insert_revision(
    connection: Connection[TupleRow],
    columns: dict[str, Any],
    planned: Sequence[PlannedEvaluation],
    texts: TextRule,
    *,
    first: EvaluationKey | None,
) -> None:
    """Sends all inserts of a revision; who calls has seen to it that it is none that is stored.

    Args:
        connection: in the transaction that stores it.
        columns: of the trace, and `day`, `revision`, `now`, `lease_until`, `evaluations_born`.
        planned: its evaluations.
        texts: which stay when nothing waits for them.
        first: the evaluation that is run at once.
    """
    connection.execute(INSERT_TRACE, columns)
    insert_evaluations(connection, columns, planned, claimed=first)
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
