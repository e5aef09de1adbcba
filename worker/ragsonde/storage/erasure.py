"""Erasing traces everywhere: tombstones first, then whoever stores has ended, then the rows, in batches.

Nothing is locked but the rows that go and those of backfills, for one batch. Stopped at any moment it may be
called again: what is still there is found again. Parked messages go before the traces by whose ids they are
found.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from ragsonde.storage.dirty_marks import write_marking
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.erasure_choice import find_traces
from ragsonde.storage.erasure_map import Reach, list_reached
from ragsonde.storage.parked_erasure import delete_parked, find_parked_of
from ragsonde.storage.reservations import HELD, release
from ragsonde.storage.retries import Retries
from ragsonde.storage.tombstones import Named, Tombstone, await_storing, write_name, write_tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import date

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.erasure_choice import ErasureChoice

BATCH_TRACES = 200
TRACES = "traces"
"""In counts, beside names of tables."""
_HOLDING = frozenset({"evaluation", "check_result"})
"""Their rows may hold a part of a judge's budget."""

_OF_RECORDS = """trace_id = ANY(%(ids)s::text[]) AND (%(app)s::text IS NULL OR app = %(app)s)
  AND (%(before)s::date IS NULL OR day < %(before)s::date)"""
_OF_CHECKS = """trace_id = ANY(%(ids)s::text[]) AND (%(app)s::text IS NULL OR app = %(app)s)
  AND (%(before)s::date IS NULL
       OR coalesce((trace ->> 'occurred_at')::timestamptz, chosen_at) < %(before)s::date)"""
_OF_TRACES = "trace_id = ANY(%(ids)s::text[])"
_MARK_BLOCKS = write_marking(_OF_RECORDS)

_LOCK_BACKFILLS = "SELECT FROM backfill ORDER BY id FOR UPDATE"
"""Before any evaluation, as everybody: who reserves for a backfill holds its row and waits for another."""
_LOCK_RECORDS = f"SELECT FROM open_record WHERE {_OF_TRACES} ORDER BY trace_id FOR UPDATE"
_OF_RESULTS = f"check_id IN (SELECT id FROM check_set WHERE {_OF_CHECKS})"  # noqa: S608  # a constant
_FORGET_PLACE = """
UPDATE backfill SET place = jsonb_set(place, '{trace_id}',
    to_jsonb(left(place ->> 'trace_id', length(place ->> 'trace_id') / 2)))
WHERE place ->> 'trace_id' = ANY(%(ids)s::text[])
"""
"""A beginning comes before the whole: what follows is looked at, and a few that were looked at are again."""
_OF_ALERTS = """(%(app)s::text IS NULL OR app = %(app)s)
  AND EXISTS (SELECT FROM jsonb_array_elements(explanation -> 'traces') AS one(trace)
    WHERE one.trace ->> 'trace_id' = ANY(%(ids)s::text[]))"""
_LEAVE_ALERTS = f"""
WITH cut AS (
    UPDATE alert SET explanation = jsonb_set(explanation, '{{traces}}', (
        SELECT coalesce(jsonb_agg(one.trace ORDER BY one.place), '[]')
        FROM jsonb_array_elements(explanation -> 'traces') WITH ORDINALITY AS one(trace, place)
        WHERE NOT (one.trace ->> 'trace_id' = ANY(%(ids)s::text[]))))
    WHERE {_OF_ALERTS} RETURNING 1)
SELECT count(*) FROM cut
"""  # noqa: S608  # a constant
"""After the traces: who writes an alert holds those that it names, so that it is there by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """How it is erased.

    Attributes:
        now: what occurs later is not meant.
        keep_tombstones_days: after so long nothing can come back any more.
        on_traces: is told how many traces are done, after each batch.
    """

    now: datetime
    keep_tombstones_days: int
    on_traces: Callable[[int], None] = lambda _: None

    @property
    def expires_at(self) -> datetime:
        """When the tombstones are dropped."""
        return self.now + timedelta(days=self.keep_tombstones_days)


class ErasureCounts(Counter[str]):
    """Rows by table; under TRACES the number of traces that they were of."""


def count_erasable(engine: Engine, choice: ErasureChoice) -> ErasureCounts:
    """What `erase` would erase now; nothing is changed.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    counts = ErasureCounts()
    seen: set[str] = set()
    for found in find_traces(engine, choice):
        new = [trace_id for trace_id in found if trace_id not in seen]
        seen.update(new)
        for ids in _batch(new):
            counts.update(_count_batch(engine, choice, ids))
    for parked in find_parked_of(engine, choice, trace_ids=seen):
        counts["parked_message"] += len(parked)
    counts[TRACES] = _count_stored(choice, seen, counts)
    return counts


def erase(engine: Engine, choice: ErasureChoice, how: Erasing) -> ErasureCounts:
    """What was erased, everywhere; it is not stored again, whatever way it comes.

    Raises:
        DatabaseLostError: some of it is erased; call again.
    """
    counts = ErasureCounts()
    write_tombstones(engine, list(_name_subjects(choice, how)))
    await_storing(engine)
    erased: set[str] = set()
    if choice.names_persons or choice.trace is not None:
        # a parked message may name no more of a person than the trace
        for found in find_traces(engine, choice):
            write_tombstones(engine, [_name_traces(found, choice, how)])
            erased.update(found)
    for parked in find_parked_of(engine, choice, trace_ids=erased):
        counts.update(Retries().run(lambda parked=parked: delete_parked(engine, parked)))  # type: ignore[misc]
    done: set[str] = set()
    for found in find_traces(engine, choice):
        for ids in _batch(found):
            write_tombstones(engine, [_name_traces(ids, choice, how)])
            await_storing(engine)
            counts.update(Retries().run(lambda ids=ids: _erase_batch(engine, choice, ids)))  # type: ignore[misc]
            done.update(ids)
            how.on_traces(len(done))
    counts[TRACES] = _count_stored(choice, done, counts)
    return counts


def _count_stored(choice: ErasureChoice, ids: AbstractSet[str], counts: ErasureCounts) -> int:
    """How many of the traces were there: one that is named itself need not be, or was under another form."""
    if choice.trace is None:
        return len(ids)
    return int(any(number for table, number in counts.items() if table not in {"parked_message", "suspect"}))


def _name_subjects(choice: ErasureChoice, how: Erasing) -> Iterator[Tombstone]:
    """Tombstones of whom is meant, for traces that are not here yet: only for those of the past."""
    moment = _find_moment(choice, how)
    for kind, values in ((Named.USER, choice.users), (Named.SESSION, choice.sessions)):
        names = [write_name(kind, value, app=choice.app) for value in values]
        if names:
            yield Tombstone(kind, names, moment, how.expires_at)
    if choice.trace is not None:
        yield _name_traces(choice.traces, choice, how)


def _name_traces(ids: Sequence[str], choice: ErasureChoice, how: Erasing) -> Tombstone:
    """What was named itself does not come back; of an app or a time what occurs later is welcome."""
    is_named = choice.names_persons or choice.trace is not None
    before = _find_moment(choice, how) if choice.before is not None or not is_named else None
    names = [write_name(Named.TRACE, trace_id, app=choice.app) for trace_id in ids]
    return Tombstone(Named.TRACE, names, before, how.expires_at)


def _find_moment(choice: ErasureChoice, how: Erasing) -> datetime:
    if choice.before is None:
        return how.now
    return min(how.now, datetime.combine(choice.before, time.min, tzinfo=UTC))


def _batch(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), BATCH_TRACES):
        yield list(ids[start : start + BATCH_TRACES])


def _erase_batch(engine: Engine, choice: ErasureChoice, ids: Sequence[str]) -> ErasureCounts:
    """Traces go first, then evaluations: who copies the one or ends the other has committed by then.

    What he wrote meanwhile is seen by the statements that follow.
    """
    with pipelined_transaction(engine) as connection:
        return erase_within(connection, ids, app=choice.app, before=choice.before)


def erase_within(
    connection: Connection[TupleRow], ids: Sequence[str], *, app: str | None, before: date | None = None
) -> ErasureCounts:
    """Erases what is stored of traces, in a transaction of the caller's."""
    columns = {"ids": list(ids), "app": app, "before": before}
    counts = ErasureCounts()
    connection.execute(_LOCK_BACKFILLS)
    connection.execute(_LOCK_RECORDS, columns)
    connection.execute(_MARK_BLOCKS, columns)
    held: list[Sequence[Any]] = []
    for table, where in _list_conditions():
        if table in _HOLDING:
            rows = connection.execute(_write_holding_deletion(table, where), columns).fetchall()
            counts[table] += len(rows)
            held += [row for row in rows if row[-1] is not None]
        else:
            counts[table] += _count(connection, _write_deletion(table, where), columns)
    connection.execute(_FORGET_PLACE, columns)
    counts["alert"] += _count(connection, _LEAVE_ALERTS, columns)
    # in one order, as others take these locks
    for judge, *amounts in sorted(held, key=lambda row: (row[0], row[-1])):
        release(connection, judge, amounts)
    return counts


def _count_batch(engine: Engine, choice: ErasureChoice, ids: Sequence[str]) -> ErasureCounts:
    columns = _list_columns(choice, ids)
    with pipelined_transaction(engine) as connection:
        return ErasureCounts(
            {
                table: _count(connection, f"SELECT count(*) FROM {table} WHERE {where}", columns)  # noqa: S608  # constants
                for table, where in (*_list_conditions(), ("alert", _OF_ALERTS))
            }
        )


def _list_conditions() -> Iterator[tuple[str, str]]:
    """The tables whose rows bear the trace's id, and which of these go; a check's results before it."""
    conditions = {
        Reach.BY_RECORD: _OF_RECORDS,
        Reach.BY_CHECK: _OF_RESULTS,
        Reach.BY_COPY: _OF_CHECKS,
        Reach.BY_TRACE: _OF_TRACES,
    }
    for reach, where in conditions.items():
        for table in list_reached(reach):
            yield table, where


def _write_deletion(table: str, where: str) -> str:
    deletion = f"DELETE FROM {table} WHERE {where} RETURNING 1"  # noqa: S608  # constants
    return f"WITH gone AS ({deletion}) SELECT count(*) FROM gone"  # noqa: S608  # constants


def _write_holding_deletion(table: str, where: str) -> str:
    return f"DELETE FROM {table} WHERE {where} RETURNING judge, {HELD}"  # noqa: S608  # constants


def _count(connection: Connection[TupleRow], statement: str, columns: dict[str, Any]) -> int:
    row = connection.execute(statement, columns).fetchone()
    return 0 if row is None else int(row[0])


def _list_columns(choice: ErasureChoice, ids: Sequence[str]) -> dict[str, Any]:
    return {"ids": list(ids), "app": choice.app, "before": choice.before}
