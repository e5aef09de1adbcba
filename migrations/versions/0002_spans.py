"""Spans are gathered until their trace is complete.

Phase: expand
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def column(name: str, kind: type[sa.types.TypeEngine[Any]]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "span_buffer",
        column("trace_id", sa.Text),
        column("span_id", sa.Text),
        column("end_ns", sa.BigInteger),
        column("attribute_count", sa.Integer),
        column("digest", sa.LargeBinary),
        column("payload", sa.LargeBinary),
        sa.PrimaryKeyConstraint("trace_id", "span_id", name=op.f("pk_span_buffer")),
    )
    op.create_table(
        "open_record",
        column("trace_id", sa.Text),
        column("format", sa.Text),
        column("app", sa.Text),
        moment("first_received_at"),
        moment("last_received_at"),
        moment("opened_at"),
        column("has_root", sa.Boolean),
        column("has_end_marker", sa.Boolean),
        column("is_cut", sa.Boolean),
        column("span_count", sa.Integer),
        column("byte_count", sa.BigInteger),
        column("version", sa.Integer),
        column("claimed_version", sa.Integer),
        column("closed_version", sa.Integer),
        moment("next_close_at", nullable=True),
        column("reason", sa.Text),
        column("claims", sa.Integer),
        column("unfinished_claims", sa.Integer),
        moment("lease_until", nullable=True),
        moment("queued_until", nullable=True),
        column("admitted", JSONB),
        sa.PrimaryKeyConstraint("trace_id", name=op.f("pk_open_record")),
    )
    op.create_index(
        "ix_open_record_due",
        "open_record",
        ["app", "next_close_at"],
        postgresql_where=sa.text("next_close_at IS NOT NULL"),
    )
    op.create_index(
        "ix_open_record_closed",
        "open_record",
        ["last_received_at"],
        postgresql_where=sa.text("next_close_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("open_record")
    op.drop_table("span_buffer")
