"""Scores counted in blocks of five minutes.

Phase: expand
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

STREAM_KEY = ("scorer", "version", "judge", "fingerprint", "judge_epoch", "app", "environment")


def column(name: str, kind: Any, *parts: Any, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, *parts, nullable=False, **more)


def moment(name: str, *, nullable: bool = False, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, **more)


def upgrade() -> None:
    op.create_table(
        "score_stream",
        column("id", sa.Integer, sa.Identity(always=True)),
        *(column(name, sa.Integer if name == "judge_epoch" else sa.Text) for name in STREAM_KEY),
        moment("first_seen_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score_stream")),
        sa.UniqueConstraint(*STREAM_KEY, name=op.f("uq_score_stream_" + "_".join(STREAM_KEY))),
    )
    op.create_table(
        "score_block",
        column("stream_id", sa.Integer),
        moment("start"),
        column("stratum", sa.Text),
        column("day", sa.Date),
        column("n", sa.Integer),
        column("total", sa.Double),
        column("squares", sa.Double),
        column("failed", sa.Integer),
        column("bins", sa.ARRAY(sa.SmallInteger)),
        column("counts", sa.ARRAY(sa.Integer)),
        moment("built_at"),
        sa.PrimaryKeyConstraint("stream_id", "start", "stratum", "day", name=op.f("pk_score_block")),
        postgresql_partition_by="RANGE (day)",
    )
    op.create_table(
        "dirty_mark",
        column("id", sa.BigInteger, sa.Identity(always=True)),
        sa.Column("app", sa.Text),
        sa.Column("environment", sa.Text),
        moment("since"),
        moment("until"),
        moment("marked_at", server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dirty_mark")),
        sa.CheckConstraint("since < until", name=op.f("ck_dirty_mark_is_a_stretch")),
    )
    op.create_table(
        "score_block_cursor",
        column("id", sa.SmallInteger, autoincrement=False),
        moment("scanned_until"),
        moment("closed_until", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score_block_cursor")),
    )


def downgrade() -> None:
    op.drop_table("score_block_cursor")
    op.drop_table("dirty_mark")
    op.drop_table("score_block")
    op.drop_table("score_stream")
