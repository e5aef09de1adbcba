"""Finished evaluations with their verdicts, texts and scores, read in batches: for scoring them once more."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from ragsonde.storage.day_samples import MOST_BLOCKS, SAMPLED, plan_samples
from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.partitions import list_partitions
from ragsonde.storage.result_rows import rebuild_assessment, rebuild_outcome
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde.storage.trace_rows import rebuild_remains, rebuild_trace, to_utc
from ragsonde.storage.transitions import ENDS_OF_A_RUN
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.score import Outcome
from ragsonde_schemas.trace import Trace, TraceKey
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Engine

    Row = Mapping[str, Any]

_CHOSEN = """
e.state = ANY(%(states)s) AND (%(app)s::text IS NULL OR e.app = %(app)s)
  AND (%(judge)s::text IS NULL OR e.judge = %(judge)s)
"""

_TABLE = "evaluation"
_COUNT = f"""
SELECT count(*) FROM evaluation e {SAMPLED} WHERE {_CHOSEN} AND e.day = %(day)s
"""  # noqa: S608  # constants

PAGE_ROWS = 20_000
"""So many evaluations are looked at by one statement, however few of them are meant."""

_KEY = "(e.trace_id, e.app, e.record_key, e.revision, e.day, e.judge, e.fingerprint)"
_IN_ORDER = f"ORDER BY {_KEY.strip('()')}"
_PLACE = """(%({0}trace_id)s, %({0}app)s, %({0}record_key)s, %({0}revision)s, %(day)s, %({0}judge)s,
        %({0}fingerprint)s)"""
_AFTER = f"{_KEY} > {_PLACE.format('after_')}"
_UNTIL = f"AND {_KEY} <= {_PLACE.format('until_')}"

_FIND_END = f"""
SELECT e.trace_id, e.app, e.record_key, e.revision, e.day, e.judge, e.fingerprint FROM evaluation e
WHERE e.day = %(day)s AND {_AFTER} {_IN_ORDER} OFFSET %(rows)s - 1 LIMIT 1
"""  # noqa: S608  # constants

_READ = f"""
SELECT t.*, x.query, x.retrieval_query, x.turns, x.contexts, x.answer, x.reference,
    x.turns IS NOT NULL AS has_texts, e.judge, e.fingerprint, e.cause AS ended_by,
    coalesce(a.created_at, e.finished_at, e.created_at) AS judged_at, a.verdicts
FROM (
    SELECT e.* FROM evaluation e
    WHERE {_CHOSEN} AND e.day = %(day)s AND {_AFTER} {{until}}
    {_IN_ORDER}
    LIMIT %(limit)s
) e
JOIN trace t USING (trace_id, app, record_key, revision, day)
LEFT JOIN trace_text x USING (trace_id, app, record_key, revision, day)
LEFT JOIN assessment a USING (trace_id, app, record_key, revision, day, judge, fingerprint)
ORDER BY t.trace_id, t.app, t.record_key, t.revision, e.judge, e.fingerprint
"""  # noqa: S608  # constants

_READ_SCORES = """
SELECT s.* FROM score s
JOIN unnest(
    %(trace_ids)s::text[], %(apps)s::text[], %(record_keys)s::text[], %(revisions)s::smallint[],
    %(judges)s::text[], %(fingerprints)s::text[]
) AS k(trace_id, app, record_key, revision, judge, fingerprint)
  USING (trace_id, app, record_key, revision, judge, fingerprint)
WHERE s.day = %(day)s
"""


class EvaluationFilter(Value):
    """Which evaluations are meant; None = all.

    Attributes:
        since, until: first and last day (UTC) on which the trace occurred.
    """

    app: str | None = None
    judge: str | None = None
    since: date | None = None
    until: date | None = None


class StoredOutcome(Value):
    """A scorer's outcome, and when it was stored."""

    outcome: Outcome
    created_at: datetime


class StoredEvaluation(Value):
    """A finished evaluation of the newest revision.

    Attributes:
        trace: without its texts where `has_texts` is false.
        cause: what it ended with, where it has no score.
        judged_at: when the judge gave its verdicts.
        assessment: None where the judge was not asked, did not answer, or retention has dropped it.
        outcomes: of all scorers and versions.
    """

    key: EvaluationKey
    trace: Trace
    has_texts: bool
    cause: Cause | None
    judged_at: datetime
    assessment: Assessment | None
    outcomes: tuple[StoredOutcome, ...]


def count_evaluations(
    engine: Engine,
    chosen: EvaluationFilter,
    *,
    most_days: int | None = None,
    most_blocks: int = MOST_BLOCKS,
) -> dict[date, int]:
    """How many there are, by the day of the trace; only days that have some.

    Of a day with many evaluations it is an estimate, at least 1, from a part of them.

    Args:
        engine: of this process.
        chosen: which are meant.
        most_days: only so many days that have some, the newest; None = all.
        most_blocks: looked at of a day.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    days = _list_days(engine, chosen)
    which = _list_filter(chosen)
    counts: dict[date, int] = {}
    with pipelined_transaction(engine) as connection:
        for sample in reversed(plan_samples(connection, _TABLE, days, most_blocks=most_blocks)):
            if not sample.blocks:
                continue
            columns = {**which, "day": sample.day, "percent": sample.percent}
            ((counted,),) = connection.execute(_COUNT, columns).fetchall()
            count = max(round(counted / sample.share), int(sample.share < 1))
            if count:
                counts[sample.day] = count
            if len(counts) == most_days:
                break
    return dict(sorted(counts.items()))


def _list_days(engine: Engine, chosen: EvaluationFilter) -> list[date]:
    first, last = chosen.since or date.min, chosen.until or date.max
    with translating_losses(), engine.connect() as connection:
        return [
            partition.day
            for partition in list_partitions(connection)
            if partition.table == _TABLE and partition.is_attached and first <= partition.day <= last
        ]


def read_evaluations(
    engine: Engine, chosen: EvaluationFilter, *, days: Sequence[date], batch_size: int
) -> Iterator[tuple[StoredEvaluation, ...]]:
    """The evaluations in batches, day by day; no more than a batch is held at once.

    Args:
        engine: of this process.
        chosen: app and judge.
        days: which days, see `count_evaluations`.
        batch_size: at most so many evaluations at once.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    for day in days:
        after: Row = dict.fromkeys(EVALUATION_KEY, "") | {"revision": 0}
        is_over = False
        while not is_over:
            until = _find_end(engine, day=day, after=after)
            is_over = until is None
            while True:
                batch = _read_batch(engine, chosen, day=day, after=after, until=until, limit=batch_size)
                if batch:
                    yield tuple(_build(row, scores) for row, scores in batch)
                    after = batch[-1][0]
                if len(batch) < batch_size:
                    break
            after = until or after


def _find_end(engine: Engine, *, day: date, after: Row) -> Row | None:
    """The last key of the next page; None where no whole page is left."""
    columns = {**_list_place(after, "after_"), "day": day, "rows": PAGE_ROWS}
    with pipelined_transaction(engine) as connection:
        return connection.cursor(row_factory=dict_row).execute(_FIND_END, columns).fetchone()


def _read_batch(
    engine: Engine, chosen: EvaluationFilter, *, day: date, after: Row, until: Row | None, limit: int
) -> list[tuple[Row, list[Row]]]:
    place = _list_place(after, "after_")
    if until is not None:
        place |= _list_place(until, "until_")
    query = _READ.format(until="" if until is None else _UNTIL)
    with pipelined_transaction(engine) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        rows = cursor.execute(query, {**_list_filter(chosen), **place, "day": day, "limit": limit}).fetchall()
        scores = cursor.execute(_READ_SCORES, {**_list_keys(rows), "day": day}).fetchall() if rows else []
    by_key: dict[tuple[Any, ...], list[Row]] = {}
    for score in scores:
        by_key.setdefault(_pick(score), []).append(score)
    return [(row, by_key.get(_pick(row), [])) for row in rows]


def _list_place(row: Row, prefix: str) -> dict[str, Any]:
    return {f"{prefix}{name}": row[name] for name in EVALUATION_KEY if name != "day"}


def _list_filter(chosen: EvaluationFilter) -> dict[str, Any]:
    return {**chosen.model_dump(), "states": sorted(state.value for state in ENDS_OF_A_RUN)}


def _list_keys(rows: Sequence[Row]) -> dict[str, list[Any]]:
    names = ("trace_id", "app", "record_key", "revision", "judge", "fingerprint")
    return {f"{name}s": [row[name] for row in rows] for name in names}


def _pick(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in EVALUATION_KEY)


def _build(row: Row, scores: Sequence[Row]) -> StoredEvaluation:
    key = TraceKey(app=row["app"], trace_id=row["trace_id"], record_key=row["record_key"], day=row["day"])
    return StoredEvaluation(
        key=EvaluationKey(
            trace=key, revision=row["revision"], judge=row["judge"], fingerprint=row["fingerprint"]
        ),
        trace=rebuild_trace(row) if row["has_texts"] else rebuild_remains(key, row),
        has_texts=row["has_texts"],
        cause=row["ended_by"],
        judged_at=to_utc(row["judged_at"]),
        assessment=None if row["verdicts"] is None else rebuild_assessment(row, ()),
        outcomes=tuple(
            StoredOutcome(outcome=rebuild_outcome(one), created_at=to_utc(one["created_at"]))
            for one in scores
        ),
    )
