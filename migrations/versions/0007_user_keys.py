"""Keys by which users' ids become pseudonyms.

Phase: expand
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "user_key",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("secret", sa.LargeBinary),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_from", sa.DateTime(timezone=True)),
        sa.Column("retired_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_key")),
    )


def downgrade() -> None:
    op.drop_table("user_key")
