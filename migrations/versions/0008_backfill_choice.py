"""What a backfill begins once more: failed evaluations, or those that lack a scorer.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("backfill", sa.Column("only_failed", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("backfill", sa.Column("cause", sa.Text))
    op.add_column("backfill", sa.Column("scorer", sa.Text))
    op.add_column("backfill_item", sa.Column("was_finished_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("backfill_item", "was_finished_at")
    for name in ("scorer", "cause", "only_failed"):
        op.drop_column("backfill", name)
