"""First tables.

Phase: expand
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

REVISION_KEY = ("trace_id", "app", "record_key", "revision", "day")
EVALUATION_KEY = (*REVISION_KEY, "judge", "fingerprint")
BRIN = {"postgresql_using": "brin", "postgresql_with": {"autosummarize": "on"}}
TABLES = (
    "trace", "trace_text", "evaluation", "assessment", "judge_reply", "score", "parked_message", "suspect",
    "scorer_version",
)  # fmt: skip

CURRENT_SCORE = """
CREATE VIEW current_score AS
SELECT s.trace_id, s.app, s.record_key, s.revision, s.day, s.judge, s.fingerprint, s.scorer, s.version,
    s.created_at, s.status, s.raw, s.value, s.band, s.passed, s.cause, s.reason, s.details
FROM score s
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE e.state <> 'superseded'
  AND NOT EXISTS (
    SELECT FROM scorer_version v WHERE v.scorer = s.scorer AND v.is_active AND v.version <> s.version)
  AND NOT EXISTS (
    SELECT FROM score n
    WHERE n.trace_id = s.trace_id AND n.app = s.app AND n.record_key = s.record_key
      AND n.revision = s.revision AND n.day = s.day AND n.judge = s.judge AND n.scorer = s.scorer
      AND (n.created_at, n.fingerprint, n.version) > (s.created_at, s.fingerprint, s.version)
      AND NOT EXISTS (
        SELECT FROM scorer_version v WHERE v.scorer = n.scorer AND v.is_active AND v.version <> n.version))
"""


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def optional_text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, JSONB, nullable=nullable)


def create_partitioned(
    table: str, *columns: sa.Column[Any] | sa.CheckConstraint, key: tuple[str, ...]
) -> None:
    """The columns of the revision come first, then those of the evaluation where the key holds them."""
    names = [
        text("trace_id"),
        text("app"),
        text("record_key"),
        sa.Column("revision", sa.SmallInteger, nullable=False),
        sa.Column("day", sa.Date, nullable=False),
    ]
    if "judge" in key:
        names += [text("judge"), text("fingerprint")]
    op.create_table(
        table,
        *names,
        *columns,
        sa.PrimaryKeyConstraint(*key, name=op.f(f"pk_{table}")),
        postgresql_partition_by="RANGE (day)",
    )


def create_traces() -> None:
    create_partitioned(
        "trace",
        text("content_hash"),
        moment("admitted_at"),
        moment("occurred_at"),
        sa.Column("occurred_at_guessed", sa.Boolean, nullable=False),
        optional_text("claimed_occurred_at"),
        optional_text("event_id"),
        text("environment"),
        text("release"),
        text("variant"),
        optional_text("session_id"),
        optional_text("user_id"),
        optional_text("model"),
        sa.Column("latency_ms", sa.Double),
        sa.Column("cost_usd", sa.Double),
        sa.Column("sampling_probability", sa.Double, nullable=False),
        sa.Column("tags", sa.ARRAY(sa.Text), nullable=False),
        json("usage"),
        json("metadata"),
        json("extra"),
        json("wish"),
        json("extraction"),
        key=REVISION_KEY,
    )
    op.create_index("ix_trace_admitted_at", "trace", ["admitted_at", "occurred_at"], **BRIN)
    create_partitioned(
        "trace_text",
        optional_text("query"),
        optional_text("retrieval_query"),
        json("turns"),
        json("contexts", nullable=True),
        optional_text("answer"),
        json("reference", nullable=True),
        key=REVISION_KEY,
    )


def create_evaluations() -> None:
    create_partitioned(
        "evaluation",
        text("state"),
        optional_text("cause"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("starts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unfinished_starts", sa.Integer, nullable=False, server_default="0"),
        moment("lease_until", nullable=True),
        moment("next_attempt_at", nullable=True),
        moment("queued_until", nullable=True),
        sa.Column("sample_rate", sa.Double, nullable=False),
        moment("created_at"),
        moment("finished_at", nullable=True),
        sa.Column("calls", sa.Integer),
        sa.Column("tokens_in", sa.Integer),
        sa.Column("tokens_out", sa.Integer),
        sa.Column("cost_usd", sa.Double),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'scored', 'not_evaluable', 'failed', 'sampled_out', 'filtered',"
            " 'shed', 'superseded')",
            name=op.f("ck_evaluation_state"),
        ),
        key=EVALUATION_KEY,
    )
    op.create_index("ix_evaluation_created_at", "evaluation", ["created_at"], **BRIN)
    op.create_index(
        "ix_evaluation_waiting",
        "evaluation",
        ["next_attempt_at"],
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index(
        "ix_evaluation_running", "evaluation", ["lease_until"], postgresql_where=sa.text("state = 'running'")
    )


def create_verdicts() -> None:
    create_partitioned(
        "assessment",
        text("content_hash"),
        moment("created_at"),
        optional_text("answered_model"),
        optional_text("head"),
        sa.Column("is_truncated", sa.Boolean, nullable=False),
        json("verdicts"),
        key=EVALUATION_KEY,
    )
    op.create_index("ix_assessment_created_at", "assessment", ["created_at"], **BRIN)
    op.create_index("ix_assessment_fingerprint_content_hash", "assessment", ["fingerprint", "content_hash"])
    create_partitioned(
        "judge_reply",
        sa.Column("position", sa.SmallInteger, nullable=False),
        moment("created_at"),
        text("purpose"),
        text("model"),
        optional_text("answered_model"),
        text("outcome"),
        sa.Column("tokens_in", sa.Integer),
        sa.Column("tokens_out", sa.Integer),
        sa.Column("cost_usd", sa.Double),
        sa.Column("seconds", sa.Double, nullable=False),
        text("reply"),
        key=(*EVALUATION_KEY, "position"),
    )
    op.create_index("ix_judge_reply_created_at", "judge_reply", ["created_at"], **BRIN)


def create_scores() -> None:
    create_partitioned(
        "score",
        text("scorer"),
        text("version"),
        moment("created_at"),
        text("status"),
        sa.Column("raw", sa.Double),
        sa.Column("value", sa.Double),
        optional_text("band"),
        sa.Column("passed", sa.Boolean),
        optional_text("cause"),
        text("reason"),
        json("details"),
        sa.CheckConstraint("(status = 'scored') = (raw IS NOT NULL)", name=op.f("ck_score_scored_has_raw")),
        sa.CheckConstraint("(status = 'scored') = (cause IS NULL)", name=op.f("ck_score_unscored_has_cause")),
        key=(*EVALUATION_KEY, "scorer", "version"),
    )
    op.create_index("ix_score_created_at", "score", ["created_at"], **BRIN)
    op.create_table(
        "scorer_version",
        text("scorer"),
        text("version"),
        sa.Column("is_active", sa.Boolean, nullable=False),
        moment("changed_at"),
        sa.PrimaryKeyConstraint("scorer", "version", name=op.f("pk_scorer_version")),
    )
    op.create_index(
        "uq_scorer_version_active",
        "scorer_version",
        ["scorer"],
        unique=True,
        postgresql_where=sa.text("is_active"),
    )
    op.execute(CURRENT_SCORE)


def create_messages() -> None:
    op.create_table(
        "parked_message",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        text("message_key"),
        text("reason"),
        text("place"),
        text("message"),
        text("queue"),
        optional_text("message_id"),
        optional_text("content_type"),
        optional_text("content_encoding"),
        json("headers"),
        moment("published_at", nullable=True),
        moment("received_at"),
        moment("parked_at"),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("body_bytes", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_parked_message")),
        sa.UniqueConstraint("message_key", "reason", name=op.f("uq_parked_message_message_key_reason")),
    )
    op.create_index("ix_parked_message_parked_at", "parked_message", ["parked_at"])
    op.create_table(
        "suspect",
        text("message_key"),
        sa.Column("starts", sa.Integer, nullable=False),
        moment("started_at"),
        sa.PrimaryKeyConstraint("message_key", name=op.f("pk_suspect")),
    )


def upgrade() -> None:
    create_traces()
    create_evaluations()
    create_verdicts()
    create_scores()
    create_messages()


def downgrade() -> None:
    op.execute("DROP VIEW current_score")
    for table in reversed(TABLES):
        op.drop_table(table)
