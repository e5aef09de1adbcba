"""What the watch for regressions remembers: changed counts, baselines, states of streams, alerts.

Phase: expand

Streams whose counts are there already are told as changed, so that they are watched from the start.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def column(name: str, kind: Any, *parts: Any, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, *parts, nullable=False, **more)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "block_change",
        column("id", sa.BigInteger, sa.Identity(always=True)),
        column("stream_id", sa.Integer),
        moment("start"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_block_change")),
    )
    op.create_index("ix_block_change_stream_id", "block_change", ["stream_id", "start"])
    op.create_table(
        "baseline",
        column("id", sa.Integer, sa.Identity(always=True)),
        column("stream_id", sa.Integer),
        column("kind", sa.Text),
        *(moment(name) for name in ("since", "until", "judges_from", "armed_at")),
        column("fitted", JSONB),
        column("failed_share", sa.Double),
        sa.Column("reason", sa.Text),
        moment("replaced_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline")),
    )
    op.create_index(
        "ix_baseline_judges_from",
        "baseline",
        ["stream_id", "judges_from"],
        unique=True,
        postgresql_where=sa.text("replaced_at IS NULL"),
    )
    op.create_table(
        "monitor_state",
        column("stream_id", sa.Integer, autoincrement=False),
        column("day", sa.Date),
        column("block", sa.Integer),
        column("begun", sa.Integer),
        column("part", sa.SmallInteger),
        sa.Column("baseline_id", sa.Integer),
        column("log_bets", sa.ARRAY(sa.Double)),
        column("log_recovery", sa.ARRAY(sa.Double)),
        column("level", sa.Text),
        sa.Column("opened", sa.Integer),
        sa.Column("hold", sa.Text),
        sa.PrimaryKeyConstraint("stream_id", "day", name=op.f("pk_monitor_state")),
    )
    _create_alerts()
    op.execute(
        "INSERT INTO block_change (stream_id, start) "
        "SELECT stream_id, min(start) FROM score_block WHERE n > 0 GROUP BY stream_id"
    )


def _create_alerts() -> None:
    op.create_table(
        "alert",
        column("id", sa.BigInteger, sa.Identity(always=True)),
        column("stream_id", sa.Integer),
        *(column(name, sa.Text) for name in ("app", "environment", "kind")),
        moment("opened_at"),
        moment("paged_at", nullable=True),
        moment("since"),
        moment("closed_at", nullable=True),
        moment("told_at"),
        column("baseline_id", sa.Integer),
        column("explanation", JSONB),
        *(moment(name, nullable=True) for name in ("acked_at", "accepted_at", "false_at")),
        sa.Column("reason", sa.Text),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert")),
    )
    op.create_index(
        "ix_alert_open", "alert", ["stream_id"], unique=True, postgresql_where=sa.text("closed_at IS NULL")
    )
    op.create_index("ix_alert_opened_at", "alert", ["opened_at"])


def downgrade() -> None:
    for table in ("alert", "monitor_state", "baseline", "block_change"):
        op.drop_table(table)
