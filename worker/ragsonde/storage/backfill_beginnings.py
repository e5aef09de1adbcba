"""Evaluations that a backfill begins: born for it, or begun anew, a page of its range in one transaction.

A backfill has only some evaluations under way at a time; the rest of its range is not written yet. Only one
monitor does this at a time (an advisory lock); commands take the row of a backfill first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragsonde.storage.backfill_turns import HOLD_RUNNING
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.record_lock import hash_record
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde.storage.tombstones import HOLD_OFF
from ragsonde_schemas.evaluation import LEFT_OUT, REDONE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.storage.backfill_candidates import Place
    from ragsonde_schemas.backfill import Candidate
    from ragsonde_schemas.evaluation import EvaluationState

_KEY = ", ".join(EVALUATION_KEY)
_SAME = " AND ".join(f"e.{name} = i.{name}" for name in EVALUATION_KEY)
_E_KEY = ", ".join(f"e.{name}" for name in EVALUATION_KEY)

_LOCK_RECORDS = "SELECT pg_advisory_xact_lock(record) FROM unnest(%(records)s::bigint[]) AS record"
"""As admission does, in one order: no newer revision comes between the look and the birth."""

_WANTED = """
unnest(%(trace_ids)s::text[], %(apps)s::text[], %(record_keys)s::text[], %(revisions)s::smallint[],
    %(days)s::date[], %(rates)s::float8[]) AS w(trace_id, app, record_key, revision, day, rate)
"""

_BEAR = f"""
WITH born AS (
    INSERT INTO evaluation (
        {_KEY}, state, sample_rate, created_at, next_attempt_at, backfill_id, is_added)
    SELECT w.trace_id, w.app, w.record_key, w.revision, w.day, %(judge)s, %(fingerprint)s, 'waiting', w.rate,
        %(now)s, %(now)s, %(id)s, true
    FROM {_WANTED}
    WHERE EXISTS (
        SELECT FROM evaluation e WHERE e.trace_id = w.trace_id AND e.app = w.app
          AND e.record_key = w.record_key AND e.revision = w.revision AND e.day = w.day
          AND e.state <> 'superseded')
      AND EXISTS (
        SELECT FROM trace t WHERE t.trace_id = w.trace_id AND t.app = w.app
          AND t.record_key = w.record_key AND t.revision = w.revision AND t.day = w.day FOR KEY SHARE)
    ON CONFLICT DO NOTHING
    RETURNING {_KEY}
)
INSERT INTO backfill_item ({_KEY}, backfill_id) SELECT {_KEY}, %(id)s FROM born RETURNING trace_id
"""  # noqa: S608  # constants

_BEGIN_ANEW = f"""
WITH old AS (
    SELECT {_E_KEY}, e.state, e.cause, e.finished_at, e.calls, e.tokens_in, e.tokens_out, e.cost_usd,
        e.sample_rate, w.rate
    FROM {_WANTED}
    JOIN evaluation e ON e.trace_id = w.trace_id AND e.app = w.app AND e.record_key = w.record_key
      AND e.revision = w.revision AND e.day = w.day
      AND e.judge = %(judge)s AND e.fingerprint = %(fingerprint)s
    WHERE e.state = ANY(%(taken)s) AND NOT EXISTS (SELECT FROM backfill_item i WHERE {_SAME})
    FOR UPDATE OF e
), begun AS (
    UPDATE evaluation e
    SET state = 'waiting', cause = NULL, next_attempt_at = %(now)s, queued_until = NULL, finished_at = NULL,
        sample_rate = CASE WHEN i.state = ANY(%(redone)s) THEN e.sample_rate ELSE i.rate END,
        backfill_id = %(id)s, reopened_at = NULL
    FROM old i WHERE {_SAME}
)
INSERT INTO backfill_item (
    {_KEY}, backfill_id, was, was_cause, was_finished_at, was_sample_rate, calls_before, tokens_in_before,
    tokens_out_before, cost_before)
SELECT {_KEY}, %(id)s, state, cause, finished_at, sample_rate, coalesce(calls, 0), coalesce(tokens_in, 0),
    coalesce(tokens_out, 0), coalesce(cost_usd, 0)
FROM old
RETURNING trace_id
"""  # noqa: S608  # constants

_NOTE_PLACE = """
UPDATE backfill SET looked_at = looked_at + %(looked_at)s, planned = planned + %(planned)s,
    place = %(place)s::jsonb, is_looked_through = %(place)s::jsonb IS NULL
WHERE id = %(id)s
"""


def begin_evaluations(
    engine: Engine,
    number: int,
    chosen: Sequence[tuple[Candidate, float]],
    *,
    judge: str,
    fingerprint: str,
    taken: Collection[EvaluationState],
    looked_at: int,
    next_place: Place | None,
    now: datetime,
) -> int:
    """How many evaluations of a page wait now for the backfill, with the place where the next page begins.

    One that exists already is begun anew only from the states of `taken`; where these are such that live
    traffic left out, one that does not exist is born. A revision that counts no more gets none.

    All in one transaction; nothing is done where the backfill does not run.

    Args:
        engine: of this process.
        number: of the backfill.
        chosen: revisions with the share of their like that is judged.
        judge: who judges.
        fingerprint: the judge's.
        taken: the states from which evaluations are begun anew.
        looked_at: revisions on the page.
        next_place: None where the range ends.
        now: of the same clock as the stores'.

    Raises:
        DatabaseLostError: nothing was done, or it is not known; the place tells.
    """
    columns: dict[str, Any] = {
        **_list_wanted(chosen),
        "id": number,
        "judge": judge,
        "fingerprint": fingerprint,
        "now": now,
        "taken": sorted(state.value for state in taken),
        "redone": sorted(state.value for state in REDONE),
    }
    records = sorted({hash_record(candidate.key) for candidate, _ in chosen})
    place = None if next_place is None else json.dumps(next_place._asdict(), default=str)
    with pipelined_transaction(engine) as connection:
        connection.execute(HOLD_OFF)
        if connection.execute(HOLD_RUNNING, columns).fetchone() is None:
            return 0
        planned = 0
        if chosen:
            statements = (_BEGIN_ANEW, _BEAR) if LEFT_OUT.keys() & taken else (_BEGIN_ANEW,)
            connection.execute(_LOCK_RECORDS, {"records": records})
            begun = [connection.execute(statement, columns) for statement in statements]
            planned = sum(len(cursor.fetchall()) for cursor in begun)
        connection.execute(
            _NOTE_PLACE, {"id": number, "looked_at": looked_at, "planned": planned, "place": place}
        )
    return planned


def _list_wanted(chosen: Sequence[tuple[Candidate, float]]) -> dict[str, list[Any]]:
    candidates = [candidate for candidate, _ in chosen]
    return {
        "trace_ids": [one.key.trace_id for one in candidates],
        "apps": [one.key.app for one in candidates],
        "record_keys": [one.key.record_key for one in candidates],
        "revisions": [one.revision for one in candidates],
        "days": [one.key.day for one in candidates],
        "rates": [rate for _, rate in chosen],
    }
