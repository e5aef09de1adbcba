"""Parked messages are found by the traces that were noted when they came, by index.

Phase: expand

What was parked before notes none, unless redaction did: it is found by the id of its message alone.
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_parked_message_message_id", "parked_message", ["message_id"])
    op.create_index(
        "ix_parked_message_names",
        "parked_message",
        ["names"],
        postgresql_using="gin",
        postgresql_ops={"names": "jsonb_path_ops"},
        postgresql_with={"fastupdate": "off"},
    )


def downgrade() -> None:
    op.drop_index("ix_parked_message_names", "parked_message")
    op.drop_index("ix_parked_message_message_id", "parked_message")
