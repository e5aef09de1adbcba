"""What is remembered of what was erased: that it was, and never what it was."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class TombstoneRow(Tables):
    """The name of a trace, user or session that was erased, as a digest; what bears it is not stored again.

    Attributes:
        digest: of the salt and the name.
        kind: `trace`, `user` or `session`.
        before: what occurred later is welcome; null = nothing is.
        expires_at: nothing of it can come back after this.
    """

    __tablename__ = "tombstone"
    __table_args__ = (Index("ix_tombstone_expires_at", "expires_at"),)

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    kind: Mapped[str]
    before: Mapped[datetime | None]
    expires_at: Mapped[datetime]


class TombstoneSaltRow(Tables):
    """At most one row, made with the first tombstone: else digests could be compared over deployments."""

    __tablename__ = "tombstone_salt"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    salt: Mapped[bytes]
