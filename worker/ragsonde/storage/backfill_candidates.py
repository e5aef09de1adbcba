"""The stored revisions that a backfill may evaluate, read in pages: what is needed to decide, no texts."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.partitions import list_partitions
from ragsonde_schemas.backfill import Candidate
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.trace import EvaluationWish, TraceKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Engine

    from ragsonde_schemas.backfill import BackfillRequest

PAGE_ROWS = 500
"""Revisions that one statement looks at, however few of them are meant."""

_READ = """
SELECT t.trace_id, t.app, t.record_key, t.revision, t.day, t.environment, t.tags, t.wish,
    t.sampling_probability, t.extraction ->> 'format' AS format, own.state,
    own.cause, %(scorer)s::text IS NOT NULL AND EXISTS (
        SELECT FROM score s WHERE s.trace_id = t.trace_id AND s.app = t.app
          AND s.record_key = t.record_key AND s.revision = t.revision AND s.day = t.day
          AND s.judge = %(judge)s AND s.fingerprint = %(fingerprint)s AND s.scorer = %(scorer)s
          AND s.status <> 'error') AS has_score,
    EXISTS (
        SELECT FROM trace_text x WHERE x.trace_id = t.trace_id AND x.app = t.app
          AND x.record_key = t.record_key AND x.revision = t.revision AND x.day = t.day) AS has_texts,
    EXISTS (
        SELECT FROM evaluation e WHERE e.trace_id = t.trace_id AND e.app = t.app
          AND e.record_key = t.record_key AND e.revision = t.revision AND e.day = t.day
          AND e.state <> 'superseded') AS counts
FROM (
    SELECT * FROM trace
    WHERE day = %(day)s
      AND (trace_id, app, record_key, revision) > (%(trace_id)s, %(after_app)s, %(record_key)s, %(revision)s)
    ORDER BY trace_id, app, record_key, revision
    LIMIT %(limit)s
) t
LEFT JOIN evaluation own ON own.trace_id = t.trace_id AND own.app = t.app AND own.record_key = t.record_key
    AND own.revision = t.revision AND own.day = t.day
    AND own.judge = %(judge)s AND own.fingerprint = %(fingerprint)s
ORDER BY t.trace_id, t.app, t.record_key, t.revision
"""


class Place(NamedTuple):
    """Up to where a range has been looked at: a day, and the key of a revision in it."""

    day: date
    trace_id: str = ""
    app: str = ""
    record_key: str = ""
    revision: int = 0

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Place:
        """The place that a backfill's row keeps."""
        return cls(**{**stored, "day": date.fromisoformat(stored["day"])})


class Page(NamedTuple):
    """A page of revisions, and where the next one begins; None where the range ends."""

    candidates: tuple[Candidate, ...]
    next_place: Place | None


def read_page(
    engine: Engine, request: BackfillRequest, *, after: Place | None, limit: int = PAGE_ROWS
) -> Page:
    """The next revisions of the request's range, of whichever app and environment.

    Args:
        engine: of this process.
        request: its days, judge, fingerprint and scorer are read.
        after: the place that the page before told; None for the first page.
        limit: so many revisions.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    first = request.since if after is None else after.day
    days = [day for day in list_days(engine) if first <= day <= request.until]
    if not days:
        return Page((), None)
    place = after if after is not None and after.day == days[0] else Place(days[0])
    columns = {**place._asdict(), "after_app": place.app, "judge": request.judge, "scorer": request.scorer}
    with pipelined_transaction(engine) as connection:
        rows = (
            connection.cursor(row_factory=dict_row)
            .execute(_READ, {**columns, "fingerprint": request.fingerprint, "limit": limit})
            .fetchall()
        )
    candidates = tuple(_build(row) for row in rows)
    if len(rows) == limit:
        last = rows[-1]
        return Page(candidates, Place(**{name: last[name] for name in Place._fields}))
    return Page(candidates, Place(days[1]) if len(days) > 1 else None)


def list_days(engine: Engine) -> list[date]:
    """The days that have a partition of traces, in order.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return sorted(
            partition.day
            for partition in list_partitions(connection)
            if partition.table == "trace" and partition.is_attached
        )


def _build(row: Mapping[str, Any]) -> Candidate:
    return Candidate(
        key=TraceKey(app=row["app"], trace_id=row["trace_id"], record_key=row["record_key"], day=row["day"]),
        revision=row["revision"],
        environment=row["environment"],
        tags=tuple(row["tags"]),
        format=row["format"] or "",
        wish=EvaluationWish.model_validate(row["wish"]),
        sampling_probability=row["sampling_probability"],
        state=None if row["state"] is None else EvaluationState(row["state"]),
        cause=row["cause"],
        has_score=row["has_score"],
        has_texts=row["has_texts"],
        counts=row["counts"],
    )
