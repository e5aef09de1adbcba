"""Traces of the past with their scores, stored at once, by the statements that store live ones, or copied.

Each is stored as it would have been in its own time, so what is counted of that time is right. No look of the
monitor's finds what bears times that are long over: its blocks are marked in the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.admission import insert_revision
from ragsonde.storage.dirty_marks import write_marking
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.locks import write_job_try
from ragsonde.storage.partitions import ensure_day
from ragsonde.storage.text_keeping import ALL_TEXTS, StoredTexts
from ragsonde.storage.tombstones import HOLD_OFF
from ragsonde.storage.trace_copies import TraceCopy, copy_traces
from ragsonde.storage.trace_rows import list_trace_columns
from ragsonde.storage.transitions import UNFINISHED, require_birth

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.text_keeping import TextRule
    from ragsonde_schemas.evaluation import PlannedEvaluation
    from ragsonde_schemas.trace import Trace

_LOCK = "past_traces"
_HAS_ANY = """
SELECT EXISTS (SELECT FROM evaluation
    WHERE app = %(app)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s)
"""
_MARK = write_marking("t.trace_id = ANY(%(ids)s::text[]) AND t.day = ANY(%(days)s::date[])")
_BATCH = 100


class PastTrace(NamedTuple):
    """A trace and its only evaluation, which has ended.

    Attributes:
        stored_at: when it was admitted and scored.
        case: traces of one case differ in the fields of `trace_copies.OWN` only, and their evaluations in
            nothing; None: this one is like no other.
    """

    trace: Trace
    planned: PlannedEvaluation
    stored_at: datetime
    case: Hashable = None


def has_judged(engine: Engine, *, app: str, judge: str, fingerprint: str) -> bool:
    """Whether any trace of an app was judged so.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        return _find_any(connection, {"app": app, "judge": judge, "fingerprint": fingerprint})


def store_past(
    engine: Engine,
    traces: Sequence[PastTrace],
    *,
    texts: TextRule = ALL_TEXTS,
    on_stored: Callable[[int], None] = lambda _: None,
) -> bool:
    """True when all are stored; False, and nothing was, where their app has some judged so already.

    It is one transaction: stopped at any moment, nothing is stored. False also while another does it.

    Args:
        engine: of this process.
        traces: new ones of one app and judge, of days that retention has not reached; at least one.
        texts: which stay.
        on_stored: is told how many are sent, again and again.

    Raises:
        DatabaseLostError: nothing was stored, or (when the answer to the commit was lost) it is not known.
        ValueError: an evaluation has not ended.
    """
    for one in traces:
        require_birth(one.planned.state, judge=one.planned.judge)
        if one.planned.state in UNFINISHED:
            raise ValueError(
                f"trace {one.trace.trace_id} is {one.planned.state}: expected one that has ended"
            )
    days = sorted({one.trace.key.day for one in traces})
    for day in days:
        ensure_day(engine, day=day)
    first = traces[0]
    kind = {
        "app": first.trace.app,
        "judge": first.planned.judge,
        "fingerprint": first.planned.fingerprint,
    }
    with pipelined_transaction(engine) as connection:
        connection.execute(HOLD_OFF)
        taken = connection.execute(*write_job_try(_LOCK)).fetchone()
        if taken is None or not taken[0] or _find_any(connection, kind):
            return False
        whole, copies = _split(traces, texts=texts)
        for number, one in enumerate(whole, start=1):
            _insert(connection, one, texts=texts)
            if number % _BATCH == 0:
                on_stored(number)
        if copies:
            copy_traces(connection, copies)
        ids = [one.trace.trace_id for one in traces]
        connection.execute(_MARK, {"ids": ids, "days": days})
    on_stored(len(traces))
    return True


def _split(traces: Sequence[PastTrace], *, texts: TextRule) -> tuple[list[PastTrace], list[TraceCopy]]:
    """The first of each case, and the others as its copies."""
    if texts.keep is StoredTexts.WORST:
        # some are drawn by their ids: of two traces that are alike the texts of one may stay
        return list(traces), []
    firsts: dict[Hashable, Trace] = {}
    whole, copies = [], []
    for one in traces:
        original = one.trace if one.case is None else firsts.setdefault(one.case, one.trace)
        if original is one.trace:
            whole.append(one)
        else:
            copies.append(TraceCopy(original, one.trace, one.stored_at))
    return whole, copies


def _insert(connection: Connection[TupleRow], one: PastTrace, *, texts: TextRule) -> None:
    columns = {
        **list_trace_columns(texts.reduce_trace(one.trace)),
        "day": one.trace.key.day,
        "revision": 1,
        "now": one.stored_at,
        "lease_until": one.stored_at,
        "evaluations_born": 1,
    }
    insert_revision(connection, columns, (one.planned,), texts, first=None)


def _find_any(connection: Connection[TupleRow], kind: dict[str, str]) -> bool:
    found = connection.execute(_HAS_ANY, kind).fetchone()
    return found is not None and bool(found[0])
