"""Messages that became no trace, and those whose work has not ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Identity, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class ParkedMessageRow(Tables):
    """A message that could not be worked on, with all that is needed to publish it again.

    Attributes:
        replays: how often it was published again.
        replayed_at: when it was last published again; null where it was parked again since.
        dropped_at: when somebody decided that it is not worth that, or when it was parked, of an erased one.
        names: whom it named when it came, its traces also as the stored body names them; null of what was
            parked before that was kept.
    """

    __tablename__ = "parked_message"
    __table_args__ = (
        UniqueConstraint("message_key", "reason"),
        Index("ix_parked_message_parked_at", "parked_at"),
        Index("ix_parked_message_message_id", "message_id"),
        Index(
            "ix_parked_message_names",
            "names",
            postgresql_using="gin",
            postgresql_ops={"names": "jsonb_path_ops"},
            # what was parked lately would else be read one by one
            postgresql_with={"fastupdate": "off"},
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    message_key: Mapped[str]
    reason: Mapped[str]
    place: Mapped[str]
    message: Mapped[str]
    queue: Mapped[str]
    message_id: Mapped[str | None]
    content_type: Mapped[str | None]
    content_encoding: Mapped[str | None]
    headers: Mapped[dict[str, Any]]
    published_at: Mapped[datetime | None]
    received_at: Mapped[datetime]
    parked_at: Mapped[datetime]
    body: Mapped[bytes]
    body_bytes: Mapped[int]
    replays: Mapped[int] = mapped_column(server_default="0")
    replayed_at: Mapped[datetime | None]
    dropped_at: Mapped[datetime | None]
    names: Mapped[dict[str, Any] | None]


class SuspectRow(Tables):
    """A message whose work was begun and has not ended: it may be what kills the process."""

    __tablename__ = "suspect"

    message_key: Mapped[str] = mapped_column(primary_key=True)
    starts: Mapped[int]
    started_at: Mapped[datetime]
