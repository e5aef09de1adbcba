"""The evaluations of backfills: begun in batches, taken when it is their turn, counted when they have ended.

A backfill has only some evaluations under way at a time; the rest of its range is not written yet. Its row
counts those that have ended, in the transaction that forgets them here: whoever is killed, each is counted
once. Only one monitor does this at a time (an advisory lock); commands take the row of a backfill first.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.admission import hash_record
from ragsonde.storage.backfill_candidates import Place
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.tables import EVALUATION_KEY
from ragsonde.storage.tombstones import HOLD_OFF
from ragsonde_schemas.evaluation import LEFT_OUT, EvaluationKey
from ragsonde_schemas.trace import TraceKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.backfill import Candidate

_KEY = ", ".join(EVALUATION_KEY)
_SAME = " AND ".join(f"e.{name} = i.{name}" for name in EVALUATION_KEY)
_E_KEY = ", ".join(f"e.{name}" for name in EVALUATION_KEY)

_HOLD_RUNNING = "SELECT FROM backfill WHERE id = %(id)s AND state = 'running' FOR UPDATE"

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
    SELECT {_E_KEY}, e.state, e.cause, e.calls, e.tokens_in, e.tokens_out, e.cost_usd, w.rate
    FROM {_WANTED}
    JOIN evaluation e ON e.trace_id = w.trace_id AND e.app = w.app AND e.record_key = w.record_key
      AND e.revision = w.revision AND e.day = w.day
      AND e.judge = %(judge)s AND e.fingerprint = %(fingerprint)s
    WHERE e.state = ANY(%(left_out)s) AND NOT EXISTS (SELECT FROM backfill_item i WHERE {_SAME})
    FOR UPDATE OF e
), begun AS (
    UPDATE evaluation e
    SET state = 'waiting', cause = NULL, next_attempt_at = %(now)s, queued_until = NULL, finished_at = NULL,
        sample_rate = i.rate, backfill_id = %(id)s, reopened_at = NULL
    FROM old i WHERE {_SAME}
)
INSERT INTO backfill_item (
    {_KEY}, backfill_id, was, was_cause, calls_before, tokens_in_before, tokens_out_before, cost_before)
SELECT {_KEY}, %(id)s, state, cause, coalesce(calls, 0), coalesce(tokens_in, 0), coalesce(tokens_out, 0),
    coalesce(cost_usd, 0)
FROM old
RETURNING trace_id
"""  # noqa: S608  # constants

_NOTE_PLACE = """
UPDATE backfill SET looked_at = looked_at + %(looked_at)s, planned = planned + %(planned)s,
    place = %(place)s::jsonb, is_looked_through = %(place)s::jsonb IS NULL
WHERE id = %(id)s
"""

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

_PUT_BACK = f"""
UPDATE evaluation e
SET state = coalesce(i.was, 'shed'), cause = CASE WHEN i.was IS NULL THEN %(cause)s ELSE i.was_cause END,
    next_attempt_at = NULL, queued_until = NULL, finished_at = %(now)s
FROM backfill_item i
WHERE i.backfill_id = %(id)s AND {_SAME} AND e.state = 'waiting'
RETURNING e.trace_id
"""  # noqa: S608  # constants

_COUNT_ENDED = f"""
WITH ended AS (
    SELECT i.ctid AS place, i.backfill_id, e.state,
        coalesce(e.calls, 0) - i.calls_before AS calls,
        coalesce(e.tokens_in, 0) - i.tokens_in_before AS tokens_in,
        coalesce(e.tokens_out, 0) - i.tokens_out_before AS tokens_out,
        coalesce(e.cost_usd, 0) - i.cost_before AS cost_usd
    FROM backfill_item i LEFT JOIN evaluation e ON {_SAME}
    WHERE i.backfill_id = %(id)s AND (e.state IS NULL OR e.state NOT IN ('waiting', 'running'))
      AND coalesce(e.unfinished_starts, 0) = 0
    FOR UPDATE OF i
), gone AS (
    DELETE FROM backfill_item i USING ended WHERE i.ctid = ended.place
), sums AS (
    SELECT count(*) FILTER (WHERE state = 'scored') AS scored,
        count(*) FILTER (WHERE state = 'not_evaluable') AS not_evaluable,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE state IS NULL OR state NOT IN ('scored', 'not_evaluable', 'failed')) AS left_,
        count(*) FILTER (WHERE state = 'shed') AS shed,
        coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens_in), 0) AS tokens_in,
        coalesce(sum(tokens_out), 0) AS tokens_out, coalesce(sum(cost_usd), 0) AS cost_usd
    FROM ended
)
UPDATE backfill b SET scored = b.scored + s.scored, not_evaluable = b.not_evaluable + s.not_evaluable,
    failed = b.failed + s.failed,
    -- a backfill of files is told of its evaluations only here
    planned = b.planned + CASE WHEN b.judge IS NULL
        THEN s.scored + s.not_evaluable + s.failed + s.left_ ELSE 0 END,
    "left" = b."left" + s.left_, calls = b.calls + s.calls,
    tokens_in = b.tokens_in + s.tokens_in, tokens_out = b.tokens_out + s.tokens_out,
    cost_usd = b.cost_usd + s.cost_usd
FROM sums s WHERE b.id = %(id)s
RETURNING s.shed
"""  # noqa: S608  # constants


class Pace(NamedTuple):
    """Where a backfill stands between two turns.

    Attributes:
        place: up to where its range was looked at; None before the beginning.
        paced_at: up to when its rate has been used.
    """

    place: Place | None
    paced_at: datetime


def begin_evaluations(
    engine: Engine,
    number: int,
    chosen: Sequence[tuple[Candidate, float]],
    *,
    judge: str,
    fingerprint: str,
    looked_at: int,
    next_place: Place | None,
    now: datetime,
) -> int:
    """How many evaluations of a page wait now for the backfill, with the place where the next page begins.

    One that exists already is begun anew only where live traffic left it out; a revision that counts no more
    gets none. All in one transaction; nothing is done where the backfill does not run.

    Args:
        engine: of this process.
        number: of the backfill.
        chosen: revisions with the share of their like that is judged.
        judge: who judges.
        fingerprint: the judge's.
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
        "left_out": sorted(state.value for state in LEFT_OUT),
    }
    records = sorted({hash_record(candidate.key) for candidate, _ in chosen})
    place = None if next_place is None else json.dumps(next_place._asdict(), default=str)
    with pipelined_transaction(engine) as connection:
        connection.execute(HOLD_OFF)
        if connection.execute(_HOLD_RUNNING, columns).fetchone() is None:
            return 0
        planned = 0
        if chosen:
            connection.execute(_LOCK_RECORDS, {"records": records})
            begun = [connection.execute(statement, columns) for statement in (_BEGIN_ANEW, _BEAR)]
            planned = sum(len(cursor.fetchall()) for cursor in begun)
        connection.execute(
            _NOTE_PLACE, {"id": number, "looked_at": looked_at, "planned": planned, "place": place}
        )
    return planned


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
        if connection.execute(_HOLD_RUNNING, columns).fetchone() is None:
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


def put_back(engine: Engine, number: int, *, cause: str | None, now: datetime) -> int:
    """How many evaluations that wait were put back to what they were; one born for the backfill is shed.

    Args:
        engine: of this process.
        number: of the backfill, which has ended.
        cause: of those that are shed.
        now: of the same clock as the stores'.

    Raises:
        DatabaseLostError: nothing was put back, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        if not _lock(connection, number):
            return 0
        columns = {"id": number, "cause": cause, "now": now}
        return len(connection.execute(_PUT_BACK, columns).fetchall())


def count_ended(engine: Engine, number: int) -> int:
    """How many evaluations were shed of those that have ended since the last count.

    Each is counted in the backfill's row and forgotten here, in one transaction.

    Raises:
        DatabaseLostError: nothing was counted, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        if not _lock(connection, number):
            return 0
        row = connection.execute(_COUNT_ENDED, {"id": number}).fetchone()
    return 0 if row is None else int(row[0])


def _lock(connection: Connection[TupleRow], number: int) -> bool:
    locked = connection.execute("SELECT FROM backfill WHERE id = %(id)s FOR UPDATE", {"id": number})
    return locked.fetchone() is not None


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
