"""What people did with parked messages, evaluations opened again, how many a revision was born with.

All columns are nullable or have a constant default: nothing is rewritten, and a worker of the version before
goes on without them.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("parked_message", sa.Column("replays", sa.Integer, nullable=False, server_default="0"))
    op.add_column("parked_message", sa.Column("replayed_at", sa.DateTime(timezone=True)))
    op.add_column("parked_message", sa.Column("dropped_at", sa.DateTime(timezone=True)))
    op.add_column("evaluation", sa.Column("reopened_at", sa.DateTime(timezone=True)))
    op.add_column("trace", sa.Column("evaluations_born", sa.SmallInteger))


def downgrade() -> None:
    op.drop_column("trace", "evaluations_born")
    op.drop_column("evaluation", "reopened_at")
    op.drop_column("parked_message", "dropped_at")
    op.drop_column("parked_message", "replayed_at")
    op.drop_column("parked_message", "replays")
