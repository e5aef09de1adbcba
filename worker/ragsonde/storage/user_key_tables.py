"""The keys by which users' ids become pseudonyms."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class UserKeyRow(Tables):
    """A key; the newest one whose time has come is used for what comes now.

    Attributes:
        secret: null where it is given by the settings, or gone.
        used_from: null where it is given by the settings.
        retired_at: since when its secret is gone.
    """

    __tablename__ = "user_key"

    id: Mapped[str] = mapped_column(primary_key=True)
    secret: Mapped[bytes | None]
    created_at: Mapped[datetime]
    used_from: Mapped[datetime | None]
    retired_at: Mapped[datetime | None]
