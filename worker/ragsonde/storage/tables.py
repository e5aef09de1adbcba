"""The tables, typed: what Alembic compares with the database and what reads are written against.

Seven tables are partitioned by day, so that each is emptied at its own age by dropping partitions. `day` is
the UTC date of the record's `occurred_at` and part of every key. The primary keys of those that hold traces
begin with `trace_id`: it is the index by which people look up a trace too. Times are found by BRIN, which
costs a few bytes a day.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.arming_tables import StreamArmingRow
from ragsonde.storage.backfill_tables import BackfillItemRow, BackfillRow
from ragsonde.storage.block_tables import (
    DirtyMarkRow,
    ExtractionBlockRow,
    ScoreBlockCursorRow,
    ScoreBlockRow,
    ScoreStreamRow,
)
from ragsonde.storage.erasure_tables import TombstoneRow, TombstoneSaltRow
from ragsonde.storage.judge_tables import (
    CheckResultRow,
    CheckTraceRow,
    JudgeAnswersRow,
    JudgeEpochRow,
    JudgeSpendRow,
    JudgeStateRow,
    SampleRateRow,
)
from ragsonde.storage.label_tables import LabelBudgetRow
from ragsonde.storage.message_tables import ParkedMessageRow, SuspectRow
from ragsonde.storage.metadata import Tables
from ragsonde.storage.regression_tables import (
    AlertNoticeRow,
    AlertRow,
    BaselineRow,
    BlockChangeRow,
    MonitorStateRow,
)
from ragsonde.storage.span_tables import OpenRecordRow, SpanRow
from ragsonde.storage.table_names import EVALUATION_KEY, REVISION_KEY
from ragsonde.storage.user_key_tables import UserKeyRow
from ragsonde_schemas.evaluation import EvaluationState

__all__ = [
    "CURRENT_SCORE",
    "AlertNoticeRow",
    "AlertRow",
    "AssessmentRow",
    "BackfillItemRow",
    "BackfillRow",
    "BaselineRow",
    "BlockChangeRow",
    "CheckResultRow",
    "CheckTraceRow",
    "DirtyMarkRow",
    "EvaluationColumns",
    "EvaluationRow",
    "ExtractionBlockRow",
    "JudgeAnswersRow",
    "JudgeEpochRow",
    "JudgeReplyRow",
    "JudgeSpendRow",
    "JudgeStateRow",
    "LabelBudgetRow",
    "MonitorStateRow",
    "OpenRecordRow",
    "ParkedMessageRow",
    "RevisionColumns",
    "SampleRateRow",
    "ScoreBlockCursorRow",
    "ScoreBlockRow",
    "ScoreRow",
    "ScoreStreamRow",
    "ScorerVersionRow",
    "SpanRow",
    "StreamArmingRow",
    "SuspectRow",
    "Tables",
    "TombstoneRow",
    "TombstoneSaltRow",
    "TraceRow",
    "TraceTextRow",
    "UserKeyRow",
]

_FIRST = -10
_BRIN: dict[str, Any] = {"postgresql_using": "brin", "postgresql_with": {"autosummarize": "on"}}
_BY_DAY = {"postgresql_partition_by": "RANGE (day)"}


class RevisionColumns:
    """The columns that name one revision of a record; `app` is '' where unknown."""

    trace_id: Mapped[str] = mapped_column(sort_order=_FIRST)
    app: Mapped[str] = mapped_column(sort_order=_FIRST)
    record_key: Mapped[str] = mapped_column(sort_order=_FIRST)
    revision: Mapped[int] = mapped_column(SmallInteger, sort_order=_FIRST)
    day: Mapped[date] = mapped_column(sort_order=_FIRST)


class EvaluationColumns(RevisionColumns):
    """The columns that name one evaluation: a revision, a judge and its fingerprint."""

    judge: Mapped[str] = mapped_column(sort_order=_FIRST + 1)
    fingerprint: Mapped[str] = mapped_column(sort_order=_FIRST + 1)


class TraceRow(RevisionColumns, Tables):
    """One revision of a record, without its texts.

    Attributes:
        evaluations_born: how many were stored with it, in one transaction; null for rows of older versions.
    """

    __tablename__ = "trace"
    __table_args__ = (
        PrimaryKeyConstraint(*REVISION_KEY),
        Index("ix_trace_admitted_at", "admitted_at", "occurred_at", **_BRIN),
        _BY_DAY,
    )

    content_hash: Mapped[str]
    admitted_at: Mapped[datetime]
    occurred_at: Mapped[datetime]
    occurred_at_guessed: Mapped[bool]
    claimed_occurred_at: Mapped[str | None]
    event_id: Mapped[str | None]
    environment: Mapped[str]
    release: Mapped[str]
    variant: Mapped[str]
    session_id: Mapped[str | None]
    user_id: Mapped[str | None]
    model: Mapped[str | None]
    latency_ms: Mapped[float | None]
    cost_usd: Mapped[float | None]
    sampling_probability: Mapped[float]
    tags: Mapped[list[str]]
    usage: Mapped[dict[str, Any]]
    metadata_: Mapped[dict[str, Any]] = mapped_column("metadata")
    extra: Mapped[dict[str, Any]]
    wish: Mapped[dict[str, Any]]
    extraction: Mapped[dict[str, Any]]
    evaluations_born: Mapped[int | None] = mapped_column(SmallInteger)


class TraceTextRow(RevisionColumns, Tables):
    """The texts of a revision: the largest part, dropped first. `contexts`: null = unknown, [] = none."""

    __tablename__ = "trace_text"
    __table_args__ = (PrimaryKeyConstraint(*REVISION_KEY), _BY_DAY)

    query: Mapped[str | None]
    retrieval_query: Mapped[str | None]
    turns: Mapped[list[Any]]
    contexts: Mapped[list[Any] | None]
    answer: Mapped[str | None]
    reference: Mapped[dict[str, Any] | None]


class EvaluationRow(EvaluationColumns, Tables):
    """One revision before one judge: state, attempts, lease, cost.

    Attributes:
        starts: how often it was claimed; names the claim that may end it.
        unfinished_starts: claims since a run last ended in a transaction.
        attempts: failures that were the trace's own.
        queued_until: the sweeper publishes its key again after this.
        created_at: when it was born: it waits since then.
        reserved_calls, reserved_tokens, reserved_usd: what its run holds of its judge's budget since
            `reserved_at`; all null where it holds nothing.
        reopened_at: when somebody had it judged once more after it had failed, or a backfill's turn had come
            for it: it waits since then.
        scores_born: score rows that its last end left it with, at least; null where it never ended, and for
            rows of older versions.
        backfill_id: the backfill that began it last; null for what live traffic brought.
        is_added: born for a backfill, after its revision: beside the ledger of live traffic.
    """

    __tablename__ = "evaluation"
    __table_args__ = (
        PrimaryKeyConstraint(*EVALUATION_KEY),
        CheckConstraint(
            "state IN ({})".format(", ".join(f"'{state}'" for state in EvaluationState)), name="state"
        ),
        Index("ix_evaluation_created_at", "created_at", **_BRIN),
        Index("ix_evaluation_waiting", "next_attempt_at", postgresql_where=text("state = 'waiting'")),
        Index("ix_evaluation_running", "lease_until", postgresql_where=text("state = 'running'")),
        Index("ix_evaluation_reserved", "reserved_at", postgresql_where=text("reserved_at IS NOT NULL")),
        _BY_DAY,
    )

    state: Mapped[str]
    cause: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    starts: Mapped[int] = mapped_column(server_default="0")
    unfinished_starts: Mapped[int] = mapped_column(server_default="0")
    lease_until: Mapped[datetime | None]
    next_attempt_at: Mapped[datetime | None]
    queued_until: Mapped[datetime | None]
    sample_rate: Mapped[float]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    calls: Mapped[int | None]
    tokens_in: Mapped[int | None]
    tokens_out: Mapped[int | None]
    cost_usd: Mapped[float | None]
    scores_born: Mapped[int | None] = mapped_column(SmallInteger)
    reserved_calls: Mapped[int | None]
    reserved_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reserved_usd: Mapped[float | None]
    reserved_at: Mapped[datetime | None]
    reopened_at: Mapped[datetime | None]
    backfill_id: Mapped[int | None] = mapped_column(BigInteger)
    is_added: Mapped[bool] = mapped_column(server_default=false())


class AssessmentRow(EvaluationColumns, Tables):
    """The verdicts of one evaluation; the index is the judge cache.

    Attributes:
        is_cached: they were given earlier, for the same content.
        answered_fingerprint: of the fallback that answered; null = the judge's own.
        judge_epoch: counts the models that have answered under a fingerprint.
    """

    __tablename__ = "assessment"
    __table_args__ = (
        PrimaryKeyConstraint(*EVALUATION_KEY),
        Index(
            "ix_assessment_fingerprint_content_hash_created_at", "fingerprint", "content_hash", "created_at"
        ),
        Index("ix_assessment_created_at", "created_at", **_BRIN),
        Index("ix_assessment_cached", "created_at", postgresql_where=text("is_cached")),
        _BY_DAY,
    )

    content_hash: Mapped[str]
    created_at: Mapped[datetime]
    answered_model: Mapped[str | None]
    head: Mapped[str | None]
    is_truncated: Mapped[bool]
    verdicts: Mapped[dict[str, Any]]
    is_cached: Mapped[bool] = mapped_column(server_default=false())
    answered_fingerprint: Mapped[str | None]
    judge_epoch: Mapped[int] = mapped_column(server_default="1")


class JudgeReplyRow(EvaluationColumns, Tables):
    """What a provider answered, raw; `position` counts the calls of an evaluation from 0."""

    __tablename__ = "judge_reply"
    __table_args__ = (
        PrimaryKeyConstraint(*EVALUATION_KEY, "position"),
        Index("ix_judge_reply_created_at", "created_at", **_BRIN),
        _BY_DAY,
    )

    position: Mapped[int] = mapped_column(SmallInteger)
    created_at: Mapped[datetime]
    purpose: Mapped[str]
    model: Mapped[str]
    answered_model: Mapped[str | None]
    outcome: Mapped[str]
    tokens_in: Mapped[int | None]
    tokens_out: Mapped[int | None]
    cost_usd: Mapped[float | None]
    seconds: Mapped[float]
    reply: Mapped[str]


class ScoreRow(EvaluationColumns, Tables):
    """One scorer's outcome: `raw`, `value`, `band` where scored, `cause` where not."""

    __tablename__ = "score"
    __table_args__ = (
        PrimaryKeyConstraint(*EVALUATION_KEY, "scorer", "version"),
        CheckConstraint("(status = 'scored') = (raw IS NOT NULL)", name="scored_has_raw"),
        CheckConstraint("(status = 'scored') = (cause IS NULL)", name="unscored_has_cause"),
        CheckConstraint("raw >= 0 AND raw <= 1", name="raw_is_in_range"),
        Index("ix_score_created_at", "created_at", **_BRIN),
        _BY_DAY,
    )

    scorer: Mapped[str]
    version: Mapped[str]
    created_at: Mapped[datetime]
    status: Mapped[str]
    raw: Mapped[float | None]
    value: Mapped[float | None]
    band: Mapped[str | None]
    passed: Mapped[bool | None]
    cause: Mapped[str | None]
    reason: Mapped[str]
    details: Mapped[dict[str, Any]]
    answered_fingerprint: Mapped[str | None]
    judge_epoch: Mapped[int] = mapped_column(server_default="1")


class ScorerVersionRow(Tables):
    """A version of a scorer instance; at most one is active and then it alone is shown."""

    __tablename__ = "scorer_version"
    __table_args__ = (
        Index("uq_scorer_version_active", "scorer", unique=True, postgresql_where=text("is_active")),
    )

    scorer: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    is_active: Mapped[bool]
    changed_at: Mapped[datetime]


CURRENT_SCORE = Table(
    "current_score",
    MetaData(),
    *(Column(column.name, column.type) for column in ScoreRow.__table__.columns),
)
"""The view of the scores that count: newest revision, active version. No table, so outside the metadata."""
