"""What was erased stays away: tombstones, whose a trace of the check set was, whom a parked message named.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tombstone",
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("before", sa.DateTime(timezone=True)),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tombstone")),
    )
    op.create_index("ix_tombstone_expires_at", "tombstone", ["expires_at"])
    op.create_table(
        "tombstone_salt",
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstone_salt")),
    )
    for name in ("user_id", "session_id"):
        op.add_column("check_set", sa.Column(name, sa.Text))
    op.add_column("parked_message", sa.Column("names", postgresql.JSONB))


def downgrade() -> None:
    op.drop_column("parked_message", "names")
    for name in ("session_id", "user_id"):
        op.drop_column("check_set", name)
    op.drop_table("tombstone_salt")
    op.drop_table("tombstone")
