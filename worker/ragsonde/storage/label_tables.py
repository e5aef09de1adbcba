"""Which values of labels have series of their own."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class LabelBudgetRow(Tables):
    """An app, an environment, or a release of an app in an environment that every process names.

    Attributes:
        label: `app`, `environment` or `release`.
        app, environment: whose release it is; '' for apps and environments themselves.
        busiest_at: when a release last had the most traces of an hour; null: never, or no release.
    """

    __tablename__ = "label_budget"

    label: Mapped[str] = mapped_column(primary_key=True)
    app: Mapped[str] = mapped_column(primary_key=True)
    environment: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    named_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    busiest_at: Mapped[datetime | None]
