"""Backfills: plans over stored traces, and the evaluations that each has under way.

Phase: expand

The columns of `evaluation` are null or have a constant default: no row is written, no partition is read.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def column(name: str, kind: type[sa.types.TypeEngine[Any]], **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, nullable=False, **more)


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def counters(*names: str) -> list[sa.Column[Any]]:
    return [column(name, sa.BigInteger, server_default="0") for name in names]


def create_plans() -> None:
    op.create_table(
        "backfill",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        *(sa.Column(name, sa.Text) for name in ("judge", "fingerprint", "app", "environment")),
        column("since", sa.Date),
        column("until", sa.Date),
        column("sample", sa.Double),
        column("rate_per_second", sa.Double),
        sa.Column("most_traces", sa.BigInteger),
        sa.Column("most_calls", sa.BigInteger),
        sa.Column("most_usd", sa.Double),
        column("state", sa.Text),
        sa.Column("message", sa.Text),
        moment("created_at"),
        sa.Column("created_by", sa.Text),
        moment("finished_at", nullable=True),
        *counters("foreseen", "looked_at", "planned"),
        column("is_looked_through", sa.Boolean, server_default=sa.false()),
        sa.Column("place", JSONB),
        moment("paced_at"),
        *counters("scored", "not_evaluable", "failed", "left", "calls", "tokens_in", "tokens_out"),
        column("cost_usd", sa.Double, server_default="0"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backfill")),
    )


def create_items() -> None:
    key = ("trace_id", "app", "record_key", "revision", "day", "judge", "fingerprint")
    op.create_table(
        "backfill_item",
        *(column(name, sa.Text) for name in key[:3]),
        column("revision", sa.SmallInteger),
        column("day", sa.Date),
        *(column(name, sa.Text) for name in key[5:]),
        column("backfill_id", sa.BigInteger),
        sa.Column("was", sa.Text),
        sa.Column("was_cause", sa.Text),
        sa.Column("was_sample_rate", sa.Double),
        *(
            column(f"{name}_before", sa.Integer, server_default="0")
            for name in ("calls", "tokens_in", "tokens_out")
        ),
        column("cost_before", sa.Double, server_default="0"),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_backfill_item")),
    )
    op.create_index("ix_backfill_item_backfill_id", "backfill_item", ["backfill_id"])


def upgrade() -> None:
    create_plans()
    create_items()
    op.add_column("evaluation", sa.Column("backfill_id", sa.BigInteger))
    op.add_column("evaluation", column("is_added", sa.Boolean, server_default=sa.false()))


def downgrade() -> None:
    for name in ("is_added", "backfill_id"):
        op.drop_column("evaluation", name)
    op.drop_table("backfill_item")
    op.drop_table("backfill")
