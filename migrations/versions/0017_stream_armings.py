"""Streams that took the place of others, and how their baselines come to be from stored traces.

Phase: expand
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def column(name: str, kind: Any, *parts: Any, nullable: bool = False, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, *parts, nullable=nullable, **more)


def upgrade() -> None:
    op.create_table(
        "stream_arming",
        column("stream_id", sa.Integer, autoincrement=False),
        column("old_stream_id", sa.Integer),
        column("way", sa.Text),
        column("begun_at", sa.DateTime(timezone=True)),
        column("ended_at", sa.DateTime(timezone=True), nullable=True),
        column("seen_out_at", sa.DateTime(timezone=True), nullable=True),
        column("backfill_id", sa.BigInteger, nullable=True),
        column("scored_until", sa.Date, nullable=True),
        column("done", sa.Integer, server_default="0"),
        column("foreseen", sa.Integer, server_default="0"),
        column("outcome", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("stream_id", name=op.f("pk_stream_arming")),
    )
    op.create_index("ix_stream_arming_old_stream_id", "stream_arming", ["old_stream_id"])


def downgrade() -> None:
    op.drop_table("stream_arming")
