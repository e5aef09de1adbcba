"""Which apps, environments and releases have series of their own.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "label_budget",
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("app", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("busiest_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("label", "app", "environment", "value", name=op.f("pk_label_budget")),
    )


def downgrade() -> None:
    op.drop_table("label_budget")
