"""Backfills as they stand: created, read, paused, resumed, ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.backfill import Backfill, BackfillRequest, BackfillState, Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from sqlalchemy import Engine

_CREATE = """
INSERT INTO backfill (
    judge, fingerprint, app, environment, since, until, sample, rate_per_second, most_traces, most_calls,
    most_usd, only_failed, cause, scorer, state, created_at, created_by, foreseen, paced_at)
VALUES (
    %(judge)s, %(fingerprint)s, %(app)s, %(environment)s, %(since)s, %(until)s, %(sample)s,
    %(rate_per_second)s, %(most_traces)s, %(most_calls)s, %(most_usd)s, %(only_failed)s, %(cause)s,
    %(scorer)s, 'running', %(now)s, %(created_by)s, %(foreseen)s, %(now)s)
RETURNING id
"""

_READ = """
SELECT b.*, o.* FROM backfill b CROSS JOIN LATERAL (
    SELECT count(e.trace_id) FILTER (WHERE e.state IN ('waiting', 'running')) AS open,
        count(e.trace_id) FILTER (WHERE e.state = 'running') AS running,
        count(e.trace_id) FILTER (WHERE e.state = 'scored') AS now_scored,
        count(e.trace_id) FILTER (WHERE e.state = 'not_evaluable') AS now_not_evaluable,
        count(e.trace_id) FILTER (WHERE e.state = 'failed') AS now_failed,
        count(*) FILTER (
            WHERE e.state IS NULL OR e.state IN ('sampled_out', 'shed', 'filtered', 'superseded')
        ) AS now_left,
        coalesce(sum(coalesce(e.calls, 0) - i.calls_before), 0) AS now_calls,
        coalesce(sum(coalesce(e.tokens_in, 0) - i.tokens_in_before), 0) AS now_tokens_in,
        coalesce(sum(coalesce(e.tokens_out, 0) - i.tokens_out_before), 0) AS now_tokens_out,
        coalesce(sum(coalesce(e.cost_usd, 0) - i.cost_before), 0) AS now_cost_usd
    FROM backfill_item i
    LEFT JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
    WHERE i.backfill_id = b.id
) o
WHERE (%(ids)s::bigint[] IS NULL OR b.id = ANY(%(ids)s))
  AND (%(states)s::text[] IS NULL OR b.state = ANY(%(states)s) OR EXISTS (
    SELECT FROM backfill_item i WHERE i.backfill_id = b.id AND %(with_open)s))
ORDER BY b.id
"""

_CHANGE = """
UPDATE backfill SET state = %(state)s, message = %(message)s,
    paced_at = CASE WHEN %(state)s = 'running' THEN %(now)s ELSE paced_at END,
    finished_at = CASE WHEN %(state)s IN ('done', 'spent', 'cancelled') THEN %(now)s END
WHERE id = %(id)s AND state = ANY(%(sources)s)
RETURNING id
"""

_READS_FILES = "SELECT FROM backfill WHERE id = %(id)s AND judge IS NULL"

_NOTE_PUBLISHED = """
UPDATE backfill SET looked_at = %(messages)s, is_looked_through = true WHERE id = %(id)s
"""

_NOTE_PROGRESS = """
UPDATE backfill SET looked_at = %(messages)s, paced_at = CASE
    WHEN EXISTS (SELECT FROM backfill_item WHERE backfill_id = %(id)s) THEN paced_at
    ELSE greatest(paced_at, %(now)s) END
WHERE id = %(id)s
"""
"""Where evaluations are under way the monitor moves the time at their pace, and this would hold them up."""

SOURCES: Mapping[BackfillState, tuple[BackfillState, ...]] = {
    # one over files may get evaluations after all that it published had seemed to be done
    BackfillState.RUNNING: (BackfillState.PAUSED, BackfillState.DONE),
    BackfillState.PAUSED: (BackfillState.RUNNING,),
    BackfillState.DONE: (BackfillState.RUNNING,),
    BackfillState.SPENT: (BackfillState.RUNNING,),
    BackfillState.CANCELLED: (BackfillState.RUNNING, BackfillState.PAUSED),
}
"""From which states each may be reached."""

_REQUEST = tuple(BackfillRequest.model_fields)
_COUNTED = ("scored", "not_evaluable", "failed", "left", "calls", "tokens_in", "tokens_out", "cost_usd")


def create_backfill(
    engine: Engine, request: BackfillRequest, *, foreseen: int, created_by: str | None, now: datetime
) -> int:
    """The number of a new backfill, which runs from now on.

    Raises:
        DatabaseLostError: it may be created or not.
    """
    columns = {**request.model_dump(), "foreseen": foreseen, "created_by": created_by, "now": now}
    with pipelined_transaction(engine) as connection:
        row = connection.execute(_CREATE, columns).fetchone()
    if row is None:  # an INSERT ... RETURNING gives a row
        raise RuntimeError("INSERT INTO backfill returned nothing")
    return int(row[0])


def read_backfill(engine: Engine, number: int) -> Backfill | None:
    """The backfill of that number, None where there is none.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    return next(iter(_read(engine, ids=[number])), None)


def reads_files(engine: Engine, number: int) -> bool:
    """True where the backfill of that number takes traces of files in.

    One that has ended does, too: what it published may still lie in the queue, and becomes a trace whose
    evaluations are left out.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        return connection.execute(_READS_FILES, {"id": number}).fetchone() is not None


def list_backfills(
    engine: Engine, *, states: Collection[BackfillState] | None = None, with_open: bool = False
) -> tuple[Backfill, ...]:
    """All backfills, or those in some states, by number.

    Args:
        engine: of this process.
        states: None for all.
        with_open: also those of other states that have evaluations under way.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    return _read(
        engine,
        states=None if states is None else sorted(state.value for state in states),
        with_open=with_open,
    )


def note_published(engine: Engine, number: int, *, messages: int) -> None:
    """All messages of a backfill's files are with the broker.

    Raises:
        DatabaseLostError: it may be noted or not; call again.
    """
    with pipelined_transaction(engine) as connection:
        connection.execute(_NOTE_PUBLISHED, {"id": number, "messages": messages})


def note_progress(engine: Engine, number: int, *, messages: int, now: datetime) -> None:
    """So many messages of a backfill's files are with the broker, and more will come.

    Raises:
        DatabaseLostError: it may be noted or not; what is noted later holds.
    """
    with pipelined_transaction(engine) as connection:
        connection.execute(_NOTE_PROGRESS, {"id": number, "messages": messages, "now": now})


def change_state(
    engine: Engine,
    number: int,
    state: BackfillState,
    *,
    message: str | None = None,
    now: datetime,
    sources: Collection[BackfillState] | None = None,
) -> bool:
    """True where the backfill is in that state now and was not before.

    Args:
        engine: of this process.
        number: of the backfill.
        state: that it shall be in.
        message: why.
        now: the present, UTC.
        sources: from which it may; None: from those that `SOURCES` says.

    Raises:
        DatabaseLostError: it may be changed or not; call again.
    """
    from_states = [source.value for source in (SOURCES[state] if sources is None else sources)]
    columns = {"id": number, "state": state.value, "message": message, "sources": from_states, "now": now}
    with pipelined_transaction(engine) as connection:
        return connection.execute(_CHANGE, columns).fetchone() is not None


def _read(
    engine: Engine,
    *,
    ids: list[int] | None = None,
    states: list[str] | None = None,
    with_open: bool = False,
) -> tuple[Backfill, ...]:
    with pipelined_transaction(engine) as connection:
        rows = (
            connection.cursor(row_factory=dict_row)
            .execute(_READ, {"ids": ids, "states": states, "with_open": with_open})
            .fetchall()
        )
    return tuple(_build(row) for row in rows)


def _build(row: Mapping[str, Any]) -> Backfill:
    return Backfill(
        id=row["id"],
        request=BackfillRequest(**{name: row[name] for name in _REQUEST}),
        state=BackfillState(row["state"]),
        message=row["message"],
        created_at=to_utc(row["created_at"]),
        created_by=row["created_by"],
        finished_at=row["finished_at"] and to_utc(row["finished_at"]),
        foreseen=row["foreseen"],
        looked_at=row["looked_at"],
        planned=row["planned"],
        is_looked_through=row["is_looked_through"],
        tally=Tally(
            outstanding=row["open"],
            running=row["running"],
            **{name: row[name] + row[f"now_{name}"] for name in _COUNTED},
        ),
    )
