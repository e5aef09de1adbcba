"""Plans to evaluate what is stored already, and the evaluations that each has under way."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, Identity, Index, SmallInteger, false
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class BackfillRow(Tables):
    """A backfill: what was asked for, how far it has come, what became of the evaluations that have ended.

    Attributes:
        place: the key of the last revision that was looked at; null before the first.
        paced_at: up to when its rate has been used.
        only_failed, cause, scorer: which evaluations are run once more; false and null for what is missing.
    """

    __tablename__ = "backfill"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    judge: Mapped[str | None]
    fingerprint: Mapped[str | None]
    app: Mapped[str | None]
    environment: Mapped[str | None]
    since: Mapped[date]
    until: Mapped[date]
    sample: Mapped[float]
    rate_per_second: Mapped[float]
    most_traces: Mapped[int | None] = mapped_column(BigInteger)
    most_calls: Mapped[int | None] = mapped_column(BigInteger)
    most_usd: Mapped[float | None]
    only_failed: Mapped[bool] = mapped_column(server_default=false())
    cause: Mapped[str | None]
    scorer: Mapped[str | None]
    state: Mapped[str]
    message: Mapped[str | None]
    created_at: Mapped[datetime]
    created_by: Mapped[str | None]
    finished_at: Mapped[datetime | None]
    foreseen: Mapped[int] = mapped_column(BigInteger, server_default="0")
    looked_at: Mapped[int] = mapped_column(BigInteger, server_default="0")
    planned: Mapped[int] = mapped_column(BigInteger, server_default="0")
    is_looked_through: Mapped[bool] = mapped_column(server_default=false())
    place: Mapped[dict[str, Any] | None]
    paced_at: Mapped[datetime]
    scored: Mapped[int] = mapped_column(BigInteger, server_default="0")
    not_evaluable: Mapped[int] = mapped_column(BigInteger, server_default="0")
    failed: Mapped[int] = mapped_column(BigInteger, server_default="0")
    left: Mapped[int] = mapped_column(BigInteger, server_default="0")
    calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tokens_in: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tokens_out: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cost_usd: Mapped[float] = mapped_column(server_default="0")


class BackfillItemRow(Tables):
    """An evaluation that a backfill has under way; gone when it has ended and is counted in its backfill.

    Attributes:
        was: the state it was taken from; null where it was born for the backfill.
        was_cause, was_finished_at: its cause and its end then.
        calls_before, tokens_in_before, tokens_out_before, cost_before: what it had spent until then.
    """

    __tablename__ = "backfill_item"
    __table_args__ = (Index("ix_backfill_item_backfill_id", "backfill_id"),)

    trace_id: Mapped[str] = mapped_column(primary_key=True)
    app: Mapped[str] = mapped_column(primary_key=True)
    record_key: Mapped[str] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    judge: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    backfill_id: Mapped[int] = mapped_column(BigInteger)
    was: Mapped[str | None]
    was_cause: Mapped[str | None]
    was_finished_at: Mapped[datetime | None]
    calls_before: Mapped[int] = mapped_column(server_default="0")
    tokens_in_before: Mapped[int] = mapped_column(server_default="0")
    tokens_out_before: Mapped[int] = mapped_column(server_default="0")
    cost_before: Mapped[float] = mapped_column(server_default="0")
