"""Baselines by a person's hand: one of a stream stands beside those that came by themselves, and a floor.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("baseline", sa.Column("replaced_reason", sa.Text))
    op.drop_index("ix_baseline_judges_from", "baseline")
    op.create_index(
        "ix_baseline_judges_from",
        "baseline",
        ["stream_id", "judges_from"],
        unique=True,
        postgresql_where=sa.text("replaced_at IS NULL AND reason IS NULL"),
    )
    for name, operator in (("ix_baseline_chosen", "<>"), ("ix_baseline_floor", "=")):
        op.create_index(
            name,
            "baseline",
            ["stream_id"],
            unique=True,
            postgresql_where=sa.text(
                f"replaced_at IS NULL AND reason IS NOT NULL AND kind {operator} 'floor'"
            ),
        )


def downgrade() -> None:
    op.execute("UPDATE baseline SET replaced_at = now() WHERE replaced_at IS NULL AND reason IS NOT NULL")
    for name in ("ix_baseline_floor", "ix_baseline_chosen", "ix_baseline_judges_from"):
        op.drop_index(name, "baseline")
    op.create_index(
        "ix_baseline_judges_from",
        "baseline",
        ["stream_id", "judges_from"],
        unique=True,
        postgresql_where=sa.text("replaced_at IS NULL"),
    )
    op.drop_column("baseline", "replaced_reason")
