"""Notices of alerts that are to be sent, and by which rules fields were found in five minutes.

Phase: expand

Of blocks that are counted already no rules are known: they hold no verdict back.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def column(name: str, kind: Any, *parts: Any, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, *parts, nullable=False, **more)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "alert_notice",
        column("id", sa.BigInteger, sa.Identity(always=True)),
        column("notice_id", sa.Text),
        column("alert_id", sa.BigInteger),
        *(column(name, sa.Text) for name in ("sink", "event")),
        *(moment(name) for name in ("noted_at", "due_at")),
        column("attempts", sa.Integer, server_default="0"),
        moment("delivered_at", nullable=True),
        moment("dropped_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_notice")),
    )
    op.create_index("ix_alert_notice_alert_id", "alert_notice", ["alert_id", "sink"])
    op.create_index(
        "ix_alert_notice_waiting",
        "alert_notice",
        ["sink", "id"],
        postgresql_where=sa.text("delivered_at IS NULL AND dropped_at IS NULL"),
    )
    op.create_table(
        "extraction_block",
        *(column(name, sa.Text) for name in ("app", "environment")),
        moment("start"),
        column("rules", JSONB),
        sa.PrimaryKeyConstraint("app", "environment", "start", name=op.f("pk_extraction_block")),
    )
    op.create_index("ix_extraction_block_start", "extraction_block", ["start"])


def downgrade() -> None:
    op.drop_table("extraction_block")
    op.drop_table("alert_notice")
