"""A number lies in 0..1; NaN does not.

Phase: expand

Not validated: no row is read, and what a worker of the version before writes is in the range already.
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE score ADD CONSTRAINT ck_score_raw_is_in_range CHECK (raw >= 0 AND raw <= 1) NOT VALID"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE score DROP CONSTRAINT ck_score_raw_is_in_range")
