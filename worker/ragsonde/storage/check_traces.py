"""The traces of the check set: copied from what is stored, with their texts, and read again."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from sqlalchemy import select, text

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.tables import CheckTraceRow
from ragsonde.storage.trace_rows import SELECT_TRACE, rebuild_context, rebuild_trace, to_utc
from ragsonde_schemas.check import Candidate, CheckScore
from ragsonde_schemas.trace import EvaluationWish, Trace
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

MOST_A_DAY = 2_000
"""Traces of one day that are looked at for a choice, the newest of them."""

DAYS_OF_SCORES = 35
DAYS_OF_RESULTS = 400
"""As long as `ragsonde cost` looks back."""

_SELECT_KEPT = f"{SELECT_TRACE} FOR KEY SHARE OF t"
"""Who erases the trace waits until its copy is there, and erases that too."""

_CANDIDATES = """
WITH newest AS (
    SELECT trace_id, app, record_key, revision, day, content_hash, occurred_at FROM trace
    WHERE app = %(app)s AND day = %(day)s ORDER BY occurred_at DESC, trace_id LIMIT %(limit)s
)
SELECT n.trace_id, n.app, n.record_key, n.revision, n.day, n.content_hash, n.occurred_at,
    avg(s.raw) AS mean_raw
FROM newest n
JOIN trace_text x USING (trace_id, app, record_key, revision, day)
JOIN current_score s USING (trace_id, app, record_key, revision, day)
WHERE s.raw IS NOT NULL
GROUP BY n.trace_id, n.app, n.record_key, n.revision, n.day, n.content_hash, n.occurred_at
ORDER BY n.occurred_at DESC, n.trace_id
"""
_ADD = """
INSERT INTO check_set (app, trace_id, content_hash, chosen_at, is_active, trace, user_id, session_id)
VALUES (%(app)s, %(trace_id)s, %(content_hash)s, %(now)s, true, %(trace)s::jsonb, %(user_id)s, %(session_id)s)
ON CONFLICT DO NOTHING
RETURNING id
"""
_DROP = """
UPDATE check_set SET is_active = false, trace = '{}'::jsonb
WHERE is_active AND (%(app)s::text IS NULL OR app = %(app)s)
  AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s::bigint[]))
RETURNING id
"""
_SCORES = """
WITH number AS (
    SELECT r.check_id, r.judge, r.fingerprint, r.day, s.key AS scorer, s.value ->> 'version' AS version,
        (s.value ->> 'raw')::float8 AS raw
    FROM check_result r JOIN check_set c ON c.id = r.check_id AND c.is_active
    CROSS JOIN LATERAL jsonb_each(r.scores) s
    WHERE (r.is_reference OR r.day >= %(since)s) AND r.judged_at IS NOT NULL
      AND r.answered_fingerprint IS NULL AND s.value ? 'raw'
)
SELECT check_id, judge, fingerprint, scorer, version, min(day) AS first_day, max(day) AS newest_day,
    (array_agg(raw ORDER BY day))[1] AS first, (array_agg(raw ORDER BY day DESC))[1] AS newest
FROM number GROUP BY check_id, judge, fingerprint, scorer, version
"""
_AGES = """
SELECT judge, fingerprint, max(judged_at) FROM check_result
WHERE scores IS NOT NULL AND cause IS NULL GROUP BY judge, fingerprint
"""
_DELETE = """
DELETE FROM check_result WHERE day < %(results_until)s AND NOT is_reference RETURNING check_id
"""
_EMPTY = """
UPDATE check_result SET verdicts = NULL, scores = CASE WHEN is_reference THEN scores END
WHERE day < %(scores_until)s AND (verdicts IS NOT NULL OR scores IS NOT NULL AND NOT is_reference)
RETURNING check_id
"""
_PRIVATE: dict[str, Any] = {
    "event_id": None, "session_id": None, "user_id": None, "metadata": {}, "extra": {}, "usage": {},
    "wish": EvaluationWish(),
}  # fmt: skip
"""What no judge reads; a wish would leave scorers out."""


class CheckTrace(Value):
    """A trace of the check set, without its texts.

    Attributes:
        environment, format, tags: by which judges choose their traces.
    """

    id: int
    app: str
    trace_id: str
    chosen_at: datetime
    environment: str = ""
    format: str = ""
    tags: tuple[str, ...] = ()


def encode_check_trace(trace: Trace) -> str:
    """The trace as JSON text: what judges read of it and no more."""
    kept = trace.model_copy(update=_PRIVATE)
    return kept.model_dump_json(exclude={"contexts": {"__all__": {"sentences"}}}, exclude_defaults=True)


def rebuild_check_trace(stored: Mapping[str, Any]) -> Trace:
    """The trace as it was recorded, its sentences numbered again."""
    trace = Trace.model_validate({**stored, "contexts": None})
    contexts = stored.get("contexts")
    if contexts is None:
        return trace
    return trace.model_copy(update={"contexts": tuple(rebuild_context(context) for context in contexts)})


def list_candidates(engine: Engine, *, app: str, now: datetime, days: int) -> tuple[Candidate, ...]:
    """Scored traces of an app whose texts are still there, the newest first.

    Args:
        engine: of this process.
        app: '' where unknown.
        now: the day it falls on (UTC) is the first.
        days: how many are looked at; of each the newest 2,000 traces.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    found: list[Candidate] = []
    for back in range(days):
        columns = {"app": app, "day": now.date() - timedelta(days=back), "limit": MOST_A_DAY}
        with pipelined_transaction(engine) as connection:
            rows = connection.cursor(row_factory=dict_row).execute(_CANDIDATES, columns).fetchall()
        found += [
            Candidate(
                row={name: row[name] for name in ("trace_id", "app", "record_key", "revision", "day")},
                trace_id=row["trace_id"],
                content_hash=row["content_hash"],
                mean_raw=row["mean_raw"],
                place=len(found) + place,
            )
            for place, row in enumerate(rows)
        ]
    return tuple(found)


def add_checks(engine: Engine, candidates: Sequence[Candidate], *, now: datetime) -> int:
    """How many of these were copied into the check set; what is in it by content already is left.

    Raises:
        DatabaseLostError: some may have been copied.
    """
    added = 0
    for candidate in candidates:
        with pipelined_transaction(engine) as connection:
            row = connection.cursor(row_factory=dict_row).execute(_SELECT_KEPT, candidate.row).fetchone()
            if row is None or not row["has_texts"]:
                continue
            trace = rebuild_trace(row)
            columns = {
                "app": trace.app,
                "trace_id": trace.trace_id,
                "content_hash": trace.content_hash,
                "now": now,
                "trace": encode_check_trace(trace),
                "user_id": trace.user_id,
                "session_id": trace.session_id,
            }
            added += len(connection.execute(_ADD, columns).fetchall())
    return added


def drop_checks(engine: Engine, *, app: str | None, ids: Sequence[int] | None) -> int:
    """How many traces left the check set; their texts are erased, their results stay.

    Args:
        engine: of this process.
        app: only this app's; None for all.
        ids: only these; None for all.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"app": app, "ids": None if ids is None else list(ids)}
    with pipelined_transaction(engine) as connection:
        return len(connection.execute(_DROP, columns).fetchall())


def list_checks(engine: Engine, *, app: str | None = None) -> tuple[CheckTrace, ...]:
    """The traces of the check set, by app and number.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = CheckTraceRow
    query = (
        select(
            row.id,
            row.app,
            row.trace_id,
            row.chosen_at,
            row.trace["environment"].astext.label("environment"),
            row.trace["extraction"]["format"].astext.label("format"),
            row.trace["tags"].label("tags"),
        )
        .where(row.is_active)
        .order_by(row.app, row.id)
    )
    if app is not None:
        query = query.where(row.app == app)
    with translating_losses(), engine.connect() as connection:
        found = connection.execute(query).mappings().all()
    return tuple(
        CheckTrace(
            **{name: one[name] for name in ("id", "app", "trace_id")},
            chosen_at=to_utc(one["chosen_at"]),
            environment=one["environment"] or "",
            format=one["format"] or "",
            tags=tuple(one["tags"] or ()),
        )
        for one in found
    )


def list_check_ids(engine: Engine, *, app: str | None = None) -> frozenset[int]:
    """The numbers of the check set's traces, and nothing of what they say.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = select(CheckTraceRow.id).where(CheckTraceRow.is_active)
    if app is not None:
        query = query.where(CheckTraceRow.app == app)
    with translating_losses(), engine.connect() as connection:
        return frozenset(connection.execute(query).scalars())


def list_known_contents(engine: Engine, *, app: str) -> frozenset[str]:
    """Content hashes of an app's traces in the check set.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = select(CheckTraceRow.content_hash).where(CheckTraceRow.is_active, CheckTraceRow.app == app)
    with translating_losses(), engine.connect() as connection:
        return frozenset(connection.execute(query).scalars())


def read_check_scores(engine: Engine, *, since: date) -> tuple[CheckScore, ...]:
    """First and newest numbers of the check set; answers of fallbacks are none of their judge.

    Args:
        engine: of this process.
        since: results of earlier days are read only where they are a first one.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(_SCORES, {"since": since}).fetchall()
    return tuple(CheckScore(**row) for row in rows)


def read_check_moments(engine: Engine) -> dict[tuple[str, str], datetime]:
    """When each judge and fingerprint last had a number for a trace of the check set.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return {(judge, print_): to_utc(at) for judge, print_, at in connection.execute(text(_AGES))}


def drop_old_results(engine: Engine, *, today: date) -> int:
    """How many results of the check set lost their verdicts or scores, or were deleted, for their age.

    After 35 days a result keeps what it cost, and a first one its scores; after 400 only first ones are left.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "scores_until": today - timedelta(days=DAYS_OF_SCORES),
        "results_until": today - timedelta(days=DAYS_OF_RESULTS),
    }
    with pipelined_transaction(engine) as connection:
        cursors = [connection.execute(statement, columns) for statement in (_DELETE, _EMPTY)]
        return sum(len(cursor.fetchall()) for cursor in cursors)
