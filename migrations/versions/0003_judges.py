"""Judges have states, budgets and rates; scores say which model's stream they belong to.

Phase: expand
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SCORE_COLUMNS = """s.trace_id, s.app, s.record_key, s.revision, s.day, s.judge, s.fingerprint, s.scorer,
    s.version, s.created_at, s.status, s.raw, s.value, s.band, s.passed, s.cause, s.reason, s.details"""
STREAM_COLUMNS = ", s.answered_fingerprint, s.judge_epoch"

CURRENT_SCORE = """
CREATE VIEW current_score AS
SELECT {columns}
FROM score s
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE e.state <> 'superseded'
  AND NOT EXISTS (
    SELECT FROM scorer_version v WHERE v.scorer = s.scorer AND v.is_active
      AND v.version NOT IN (s.version, split_part(s.version, ':', 1)))
  AND NOT EXISTS (
    SELECT FROM score n
    WHERE n.trace_id = s.trace_id AND n.app = s.app AND n.record_key = s.record_key
      AND n.revision = s.revision AND n.day = s.day AND n.judge = s.judge AND n.scorer = s.scorer
      AND (n.created_at, n.fingerprint, n.version) > (s.created_at, s.fingerprint, s.version)
      AND NOT EXISTS (
        SELECT FROM scorer_version v WHERE v.scorer = n.scorer AND v.is_active
          AND v.version NOT IN (n.version, split_part(n.version, ':', 1))))
"""


def column(name: str, kind: type[sa.types.TypeEngine[Any]], **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, nullable=False, **more)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def add_columns() -> None:
    op.add_column("evaluation", sa.Column("reserved_calls", sa.Integer))
    op.add_column("evaluation", sa.Column("reserved_tokens", sa.BigInteger))
    op.add_column("evaluation", sa.Column("reserved_usd", sa.Double))
    op.add_column("evaluation", moment("reserved_at", nullable=True))
    op.create_index(
        "ix_evaluation_reserved",
        "evaluation",
        ["reserved_at"],
        postgresql_where=sa.text("reserved_at IS NOT NULL"),
    )
    op.add_column("assessment", column("is_cached", sa.Boolean, server_default=sa.false()))
    op.create_index(
        "ix_assessment_cached", "assessment", ["created_at"], postgresql_where=sa.text("is_cached")
    )
    for table in ("assessment", "score"):
        op.add_column(table, sa.Column("answered_fingerprint", sa.Text))
        op.add_column(table, column("judge_epoch", sa.Integer, server_default="1"))


def create_judges() -> None:
    op.create_table(
        "judge_state",
        column("judge", sa.Text),
        column("fingerprint", sa.Text),
        column("epoch", sa.Integer, server_default="1"),
        moment("epoch_since", nullable=True),
        sa.Column("answered_model", sa.Text),
        moment("paused_since", nullable=True),
        moment("paused_until", nullable=True),
        sa.Column("pause_message", sa.Text),
        sa.Column("hour_shares", sa.ARRAY(sa.Double)),
        sa.PrimaryKeyConstraint("judge", "fingerprint", name=op.f("pk_judge_state")),
    )
    op.create_table(
        "judge_spend",
        column("judge", sa.Text),
        column("period", sa.Text),
        moment("starts_at"),
        column("runs", sa.BigInteger, server_default="0"),
        column("spent_calls", sa.BigInteger, server_default="0"),
        column("spent_tokens", sa.BigInteger, server_default="0"),
        column("spent_usd", sa.Double, server_default="0"),
        column("unpriced_calls", sa.BigInteger, server_default="0"),
        column("reserved_calls", sa.BigInteger, server_default="0"),
        column("reserved_tokens", sa.BigInteger, server_default="0"),
        column("reserved_usd", sa.Double, server_default="0"),
        sa.PrimaryKeyConstraint("judge", "period", "starts_at", name=op.f("pk_judge_spend")),
    )
    op.create_table(
        "sample_rate",
        column("app", sa.Text),
        column("judge", sa.Text),
        moment("starts_at"),
        column("rate", sa.Double),
        column("configured", sa.Double),
        column("cause", sa.Text),
        column("traces", sa.BigInteger),
        sa.PrimaryKeyConstraint("app", "judge", "starts_at", name=op.f("pk_sample_rate")),
    )


def create_checks() -> None:
    op.create_table(
        "check_set",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        column("app", sa.Text),
        column("trace_id", sa.Text),
        column("content_hash", sa.Text),
        moment("chosen_at"),
        column("is_active", sa.Boolean),
        column("trace", JSONB),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_check_set")),
    )
    op.create_index(
        "uq_check_set_content",
        "check_set",
        ["app", "content_hash"],
        unique=True,
        postgresql_where=sa.text("is_active"),
    )
    op.create_table(
        "check_result",
        column("check_id", sa.BigInteger),
        column("judge", sa.Text),
        column("fingerprint", sa.Text),
        column("day", sa.Date),
        moment("due_at"),
        column("starts", sa.Integer, server_default="0"),
        column("unfinished_starts", sa.Integer, server_default="0"),
        moment("lease_until", nullable=True),
        moment("judged_at", nullable=True),
        column("epoch", sa.Integer, server_default="1"),
        sa.Column("answered_model", sa.Text),
        sa.Column("answered_fingerprint", sa.Text),
        sa.Column("cause", sa.Text),
        sa.Column("verdicts", JSONB),
        sa.Column("scores", JSONB),
        column("is_reference", sa.Boolean, server_default=sa.false()),
        sa.Column("calls", sa.Integer),
        sa.Column("tokens_in", sa.Integer),
        sa.Column("tokens_out", sa.Integer),
        sa.Column("cost_usd", sa.Double),
        sa.Column("reserved_calls", sa.Integer),
        sa.Column("reserved_tokens", sa.BigInteger),
        sa.Column("reserved_usd", sa.Double),
        moment("reserved_at", nullable=True),
        sa.PrimaryKeyConstraint("check_id", "judge", "fingerprint", "day", name=op.f("pk_check_result")),
        sa.ForeignKeyConstraint(
            ["check_id"],
            ["check_set.id"],
            ondelete="CASCADE",
            name=op.f("fk_check_result_check_id_check_set"),
        ),
    )


def create_epochs() -> None:
    op.create_table(
        "judge_epoch",
        column("judge", sa.Text),
        column("fingerprint", sa.Text),
        column("answered_model", sa.Text),
        column("epoch", sa.Integer),
        moment("first_since"),
        sa.PrimaryKeyConstraint("judge", "fingerprint", "answered_model", name=op.f("pk_judge_epoch")),
    )


def create_answers() -> None:
    op.create_table(
        "judge_answers",
        moment("starts_at"),
        column("answers", JSONB),
        sa.PrimaryKeyConstraint("starts_at", name=op.f("pk_judge_answers")),
    )


CACHE = ("ix_assessment_fingerprint_content_hash", ["fingerprint", "content_hash"])
CACHE_BY_AGE = (
    "ix_assessment_fingerprint_content_hash_created_at",
    ["fingerprint", "content_hash", "created_at"],
)
"""Of many repeats of a content the newest is found without sorting them."""


def replace_index(old: tuple[str, list[str]], new: tuple[str, list[str]]) -> None:
    op.create_index(new[0], "assessment", new[1])
    op.drop_index(old[0], "assessment")


def upgrade() -> None:
    op.execute("DROP VIEW current_score")
    add_columns()
    op.execute(CURRENT_SCORE.format(columns=SCORE_COLUMNS + STREAM_COLUMNS))
    create_judges()
    create_checks()
    create_epochs()
    create_answers()
    replace_index(CACHE, CACHE_BY_AGE)


def downgrade() -> None:
    replace_index(CACHE_BY_AGE, CACHE)
    for table in (
        "judge_answers",
        "judge_epoch",
        "check_result",
        "check_set",
        "sample_rate",
        "judge_spend",
        "judge_state",
    ):
        op.drop_table(table)
    op.execute("DROP VIEW current_score")
    for table in ("score", "assessment"):
        op.drop_column(table, "judge_epoch")
        op.drop_column(table, "answered_fingerprint")
    op.drop_column("assessment", "is_cached")
    for name in ("reserved_at", "reserved_usd", "reserved_tokens", "reserved_calls"):
        op.drop_column("evaluation", name)
    op.execute(CURRENT_SCORE.format(columns=SCORE_COLUMNS))
