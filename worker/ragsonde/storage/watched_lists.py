"""Lists of live traces: newest first, a page at a time, by what judges made of them."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from ragsonde.storage.table_names import EVALUATION_KEY, REVISION_KEY
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import (
    LIVE_EVALUATION,
    LIVE_TRACE,
    OCCURRED,
    OF_BACKFILL,
    Stretch,
    fetch,
    look_back,
    reading_days,
)
from ragsonde.storage.watched_scores import FIND_BIN
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.watched_list import PAGE_TRACES, ListedTrace, Sign, TracePage

if TYPE_CHECKING:
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde_schemas.watched_list import TraceFilter

SPAN = timedelta(hours=24)

_CHOSEN = """(%(app)s::text IS NULL OR {row}.app = %(app)s)"""
_OF_ENVIRONMENT = "(%(environment)s::text IS NULL OR t.environment = %(environment)s)"
_SHOWN_BY = {
    Sign.EMPTY_RETRIEVAL: "e.cause = 'empty_retrieval'",
    Sign.NO_CONTEXT: "e.cause IN ('no_context', 'context_text_missing')",
    Sign.FAILED: "e.state = 'failed'",
    Sign.LEFT_OUT: "e.state IN ('failed', 'shed', 'waiting', 'running')",
    Sign.INSUFFICIENT: "e.state = 'scored'",
}


def _same(one: str, other: str, names: tuple[str, ...]) -> str:
    return " AND ".join(f"{one}.{name} = {other}.{name}" for name in names)


_INSUFFICIENT = f"""CROSS JOIN LATERAL (
    SELECT FROM assessment a
    WHERE {_same("a", "k", EVALUATION_KEY)} AND (a.verdicts ->> 'insufficient')::boolean OFFSET 0
) a"""  # constants
_COLUMNS = "t.trace_id, t.app, t.environment, t.record_key, t.release, t.occurred_at"
_BY_TRACE = f"""
SELECT {_COLUMNS}, NULL AS judge, NULL AS state, NULL AS cause, NULL::float8 AS raw, '' AS reason
FROM trace t
WHERE t.day = %(day)s AND {OCCURRED} AND t.admitted_at <= %(stored)s AND {_CHOSEN.format(row="t")}
  AND {_OF_ENVIRONMENT} AND {LIVE_TRACE}
ORDER BY t.occurred_at DESC, t.trace_id, t.record_key, t.revision LIMIT %(most)s
"""  # noqa: S608  # constants
_BY_EVALUATION = f"""
SELECT {_COLUMNS}, k.judge, k.state, k.cause, NULL::float8 AS raw, '' AS reason
FROM (
    SELECT {", ".join(f"e.{name}" for name in EVALUATION_KEY)}, e.state, e.cause
    FROM evaluation e {OF_BACKFILL}
    WHERE e.day = %(day)s AND e.created_at <= %(stored)s AND {_CHOSEN.format(row="e")}
      AND (%(judge)s::text IS NULL OR e.judge = %(judge)s)
      AND (%(state)s::text IS NULL OR e.state = %(state)s)
      AND (e.state <> 'superseded' OR %(state)s = 'superseded')
      AND (%(cause)s::text IS NULL OR e.cause = %(cause)s) AND {LIVE_EVALUATION} AND {{shown}}
    ORDER BY e.created_at DESC, e.trace_id, e.record_key, e.judge
) k
CROSS JOIN LATERAL (
    SELECT * FROM trace t
    WHERE {_same("t", "k", REVISION_KEY)} AND {OCCURRED} AND {_OF_ENVIRONMENT} OFFSET 0
) t
{{assessed}} LIMIT %(most)s
"""  # noqa: S608  # constants
_BY_SCORE = f"""
SELECT {_COLUMNS}, k.judge, NULL AS state, s.cause, s.raw, s.reason
FROM (
    SELECT {", ".join(f"s.{name}" for name in EVALUATION_KEY)}, s.scorer, s.version FROM score s
    WHERE s.day = %(day)s AND s.created_at <= %(stored)s AND s.scorer = %(scorer)s
      AND {_CHOSEN.format(row="s")} AND (%(judge)s::text IS NULL OR s.judge = %(judge)s)
      AND (%(version)s::text IS NULL OR s.version = %(version)s)
      AND (%(fingerprint)s::text IS NULL
        OR coalesce(s.answered_fingerprint, s.fingerprint) = %(fingerprint)s)
      AND (%(epoch)s::int IS NULL OR s.judge_epoch = %(epoch)s)
      AND (%(is_scored)s::bool IS NULL OR (s.status = 'scored') = %(is_scored)s)
      AND (%(cause)s::text IS NULL OR s.cause = %(cause)s)
      AND (%(bin)s::int IS NULL OR (s.raw IS NOT NULL AND {FIND_BIN} = %(bin)s))
      AND (NOT %(is_below)s OR NOT s.passed)
    ORDER BY s.created_at DESC, s.trace_id, s.record_key, s.judge
) k
CROSS JOIN LATERAL (
    SELECT * FROM trace t
    WHERE {_same("t", "k", REVISION_KEY)} AND {OCCURRED} AND {_OF_ENVIRONMENT} OFFSET 0
) t
CROSS JOIN LATERAL (
    SELECT FROM evaluation e {OF_BACKFILL}
    WHERE {_same("e", "k", EVALUATION_KEY)} AND {LIVE_EVALUATION} OFFSET 0
) e
CROSS JOIN LATERAL (
    SELECT s.cause, s.raw, s.reason FROM current_score s
    WHERE {_same("s", "k", (*EVALUATION_KEY, "scorer", "version"))} OFFSET 0
) s
LIMIT %(most)s
"""  # noqa: S608  # constants
"""The inner query is in order, and the outer one looks its rows up until there are enough."""


def list_traces(engine: Engine, wanted: TraceFilter, *, now: datetime) -> TracePage:
    """A page of live traces that occurred in the last 24 hours or on a day, the newest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    stored = min(wanted.until or now, now)
    skipped = (wanted.page - 1) * PAGE_TRACES
    needed = skipped + PAGE_TRACES + 1
    found: list[ListedTrace] = []
    statement = _choose(wanted)
    stretch = _span_day(wanted.day) if wanted.day is not None else look_back(now, SPAN)
    with reading_days(engine) as connection:
        for day in reversed(stretch.days):
            if len(found) >= needed:
                break
            bound = _bind(wanted, stretch, day=day, stored=stored, most=needed - len(found))
            found += [_build(row) for row in fetch(connection, statement, bound)]
    shown = found[skipped : skipped + PAGE_TRACES]
    return TracePage(traces=tuple(shown), until=stored, has_more=len(found) >= needed)


def _choose(wanted: TraceFilter) -> str:
    if wanted.scorer is not None:
        return _BY_SCORE
    by_evaluation = (wanted.judge, wanted.state, wanted.cause)
    if by_evaluation == (None, None, None) and wanted.sign is Sign.NONE:
        return _BY_TRACE
    assessed = _INSUFFICIENT if wanted.sign is Sign.INSUFFICIENT else ""
    return _BY_EVALUATION.format(shown=_SHOWN_BY.get(wanted.sign, "true"), assessed=assessed)


def _span_day(day: date) -> Stretch:
    begin = datetime.combine(day, time.min, tzinfo=UTC)
    return Stretch(begin, begin + timedelta(days=1))


def _bind(wanted: TraceFilter, stretch: Stretch, *, day: date, stored: datetime, most: int) -> dict[str, Any]:
    names = ("app", "environment", "judge", "state", "cause", "scorer", "version", "fingerprint", "epoch")
    return {
        **stretch.bind(),
        **{name: getattr(wanted, name) for name in (*names, "is_scored", "bin", "is_below")},
        "day": day,
        "stored": stored,
        "most": most,
    }


def _build(row: dict[str, Any]) -> ListedTrace:
    words = {
        name: row[name] and read_word(kind, row[name])
        for name, kind in (("state", EvaluationState), ("cause", Cause))
    }
    return ListedTrace.model_validate({**row, **words, "occurred_at": to_utc(row["occurred_at"])})
