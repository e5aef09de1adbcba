"""All that is known of a trace: revisions, evaluations, verdicts, scores and parked messages that name it."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, select

from ragsonde.scoring.shown_version import find_shown
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.gathered_spans import find_gathered_spans
from ragsonde.storage.parking_store import find_parked
from ragsonde.storage.rescored import read_active_versions
from ragsonde.storage.result_rows import rebuild_assessment, rebuild_call, rebuild_outcome
from ragsonde.storage.table_names import EVALUATION_KEY, REVISION_KEY
from ragsonde.storage.tables import (
    AssessmentRow,
    EvaluationRow,
    JudgeReplyRow,
    ScoreRow,
    Tables,
    TraceRow,
    TraceTextRow,
)
from ragsonde.storage.trace_rows import rebuild_trace, to_utc
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey, EvaluationState
from ragsonde_schemas.history import EvaluationHistory, RevisionHistory, TraceHistory
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.trace import TraceKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Engine

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.score import Outcome

    Row = Mapping[str, Any]

_SIMILAR_PERIOD = timedelta(days=30)
"""No index helps to find a part of an id: only so many days are read for it."""

_TEXTS = ("query", "retrieval_query", "turns", "contexts", "answer", "reference")


def read_history(engine: Engine, trace_id: str, *, app: str | None = None) -> TraceHistory:
    """All that is known of a trace; without revisions and parked messages where nothing is.

    Args:
        engine: of this process.
        trace_id: as the producer gave it.
        app: only this app's, None for all.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    active = read_active_versions(engine)
    with translating_losses(), engine.connect() as connection:
        rows = _read(connection, TraceRow, trace_id, app=app)
        texts = _by_key(_read(connection, TraceTextRow, trace_id, app=app), REVISION_KEY)
        evaluations = _read_evaluations(connection, trace_id, app=app, active=active)
        spans = find_gathered_spans(connection, trace_id)
    return TraceHistory(
        trace_id=trace_id,
        revisions=tuple(
            _build_revision(row, texts[_pick(row, REVISION_KEY)], evaluations[_pick(row, REVISION_KEY)])
            for row in rows
        ),
        parked=find_parked(engine, trace_id=trace_id),
        spans=spans,
    )


def find_similar_ids(
    engine: Engine, part: str, *, app: str | None = None, since: date | None = None, limit: int = 5
) -> tuple[str, ...]:
    """Stored trace ids that contain `part`, whatever their case; the newest days first.

    Args:
        engine: of this process.
        part: taken as it is, no pattern; '' for any.
        app: only this app's, None for all.
        since: first day that is looked at, None for the last 30.
        limit: how many at most.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    first_day = since or datetime.now(UTC).date() - _SIMILAR_PERIOD
    conditions = [TraceRow.day >= first_day] + ([] if app is None else [TraceRow.app == app])
    if part:
        conditions.append(TraceRow.trace_id.icontains(part, autoescape=True))
    query = (
        select(TraceRow.trace_id)
        .where(and_(*conditions))
        .group_by(TraceRow.trace_id)
        .order_by(func.max(TraceRow.day).desc(), func.max(TraceRow.admitted_at).desc(), TraceRow.trace_id)
        .limit(limit)
    )
    with translating_losses(), engine.connect() as connection:
        return tuple(connection.execute(query).scalars())


def _read_evaluations(
    connection: Connection, trace_id: str, *, app: str | None, active: Mapping[str, str]
) -> Mapping[tuple[Any, ...], list[EvaluationHistory]]:
    assessments = _by_key(_read(connection, AssessmentRow, trace_id, app=app), EVALUATION_KEY)
    replies = _by_key(_read(connection, JudgeReplyRow, trace_id, app=app), EVALUATION_KEY)
    scores = _by_key(_read(connection, ScoreRow, trace_id, app=app), EVALUATION_KEY)
    found: dict[tuple[Any, ...], list[EvaluationHistory]] = defaultdict(list)
    for row in _read(connection, EvaluationRow, trace_id, app=app):
        key = _pick(row, EVALUATION_KEY)
        calls = tuple(rebuild_call(reply) for reply in replies[key])
        assessment = next((rebuild_assessment(verdicts, calls) for verdicts in assessments[key]), None)
        shown, hidden = _part_versions(scores[key], active=active)
        evaluation = _build_evaluation(row, calls, assessment)
        found[_pick(row, REVISION_KEY)].append(
            evaluation.model_copy(update={"outcomes": shown, "hidden": hidden})
        )
    return found


def _part_versions(
    rows: Sequence[Row], *, active: Mapping[str, str]
) -> tuple[tuple[Outcome, ...], tuple[Outcome, ...]]:
    """The outcomes that count, and those of other versions."""
    by_scorer: dict[str, list[tuple[datetime, Outcome]]] = defaultdict(list)
    for row in rows:
        by_scorer[row["scorer"]].append((row["created_at"], rebuild_outcome(row)))
    shown: list[Outcome] = []
    hidden: list[Outcome] = []
    for scorer, versions in by_scorer.items():
        counting = find_shown(versions, active=active.get(scorer))
        shown += [] if counting is None else [counting]
        hidden += [outcome for _, outcome in versions if outcome is not counting]
    return tuple(shown), tuple(hidden)


def _read(connection: Connection, table: type[Tables], trace_id: str, *, app: str | None) -> list[Row]:
    """The rows of a trace, ordered by whatever of the key the table has, the day before the revision."""
    columns = table.__table__.c
    order = ("app", "record_key", "day", "revision", "judge", "fingerprint", "position", "scorer", "version")
    conditions = [columns.trace_id == trace_id] + ([] if app is None else [columns.app == app])
    query = (
        select(table.__table__)
        .where(and_(*conditions))
        .order_by(*(columns[name] for name in order if name in columns))
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def _by_key(rows: Sequence[Row], key: tuple[str, ...]) -> Mapping[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[_pick(row, key)].append(row)
    return groups


def _pick(row: Row, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _build_revision(
    row: Row, texts: Sequence[Row], evaluations: Sequence[EvaluationHistory]
) -> RevisionHistory:
    as_it_is = ("revision", "content_hash", "occurred_at_guessed", "claimed_occurred_at", "environment")
    return RevisionHistory(
        **{name: row[name] for name in (*as_it_is, "release", "variant")},
        key=_build_key(row),
        admitted_at=to_utc(row["admitted_at"]),
        occurred_at=to_utc(row["occurred_at"]),
        trace=next((rebuild_trace({**row, **{name: text[name] for name in _TEXTS}}) for text in texts), None),
        evaluations=tuple(evaluations),
    )


def _build_evaluation(
    row: Row, calls: tuple[JudgeCall, ...], assessment: Assessment | None
) -> EvaluationHistory:
    moments = ("created_at", "finished_at", "next_attempt_at", "lease_until", "reopened_at")
    numbers = ("attempts", "starts", "unfinished_starts", "calls", "tokens_in", "tokens_out")
    columns: dict[str, Any] = {name: row[name] for name in (*numbers, "sample_rate", "cost_usd")}
    columns["state"] = read_word(EvaluationState, row["state"])
    columns["cause"] = row["cause"] and read_word(Cause, row["cause"])
    columns |= {name: row[name] and to_utc(row[name]) for name in moments}
    return EvaluationHistory(
        **columns,
        key=EvaluationKey(
            trace=_build_key(row),
            revision=row["revision"],
            judge=row["judge"],
            fingerprint=row["fingerprint"],
        ),
        replies=calls,
        assessment=assessment,
        outcomes=(),
    )


def _build_key(row: Row) -> TraceKey:
    return TraceKey(app=row["app"], trace_id=row["trace_id"], record_key=row["record_key"], day=row["day"])
