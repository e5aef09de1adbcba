"""How many scores an evaluation ended with.

Phase: expand

Null for what ended before, and for what a worker of the version before ends: not compared.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("evaluation", sa.Column("scores_born", sa.SmallInteger))


def downgrade() -> None:
    op.drop_column("evaluation", "scores_born")
