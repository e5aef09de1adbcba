"""What is remembered of the watch for regressions: what changed, baselines, states of streams, alerts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Double, Identity, Index, SmallInteger, text
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class BlockChangeRow(Tables):
    """A block of a stream whose counts are other than before; gone once it was judged by the new ones.

    Written with the counts, in one transaction.
    """

    __tablename__ = "block_change"
    __table_args__ = (Index("ix_block_change_stream_id", "stream_id", "start"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    stream_id: Mapped[int]
    start: Mapped[datetime]


class BaselineRow(Tables):
    """What a stream is compared with from some block on.

    Attributes:
        since, until: the stretch whose traces it is of.
        judges_from: the first block that is judged by it.
        fitted: what it was fitted to, so that it can be built again to the last digit.
        failed_share: of the outcomes of its stretch, those that are errors.
        reason: of a person who made it; null where it came by itself.
        replaced_at: when another one took its place, or a person dropped it.
        replaced_reason: of the person who dropped it.
    """

    __tablename__ = "baseline"
    __table_args__ = (
        Index(
            "ix_baseline_judges_from",
            "stream_id",
            "judges_from",
            unique=True,
            postgresql_where=text("replaced_at IS NULL AND reason IS NULL"),
        ),
        Index(
            "ix_baseline_chosen",
            "stream_id",
            unique=True,
            postgresql_where=text("replaced_at IS NULL AND reason IS NOT NULL AND kind <> 'floor'"),
        ),
        Index(
            "ix_baseline_floor",
            "stream_id",
            unique=True,
            postgresql_where=text("replaced_at IS NULL AND reason IS NOT NULL AND kind = 'floor'"),
        ),
    )

    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    stream_id: Mapped[int]
    kind: Mapped[str]
    since: Mapped[datetime]
    until: Mapped[datetime]
    judges_from: Mapped[datetime]
    armed_at: Mapped[datetime]
    fitted: Mapped[dict[str, Any]]
    failed_share: Mapped[float]
    reason: Mapped[str | None]
    replaced_at: Mapped[datetime | None]
    replaced_reason: Mapped[str | None]


class MonitorStateRow(Tables):
    """The state of a stream after the last block of a day that it was judged by; the newest day's is now's.

    Attributes:
        block: that block, in five minutes since the epoch; of `begun` and `opened` likewise.
        begun: the first block of the stream.
        part: day of its first week, from 0; 7 afterwards.
        baseline_id: that it is judged by; null while it cannot be judged.
        log_bets, log_recovery: 12 each.
        hold: why the block brought no evidence; null where it did.
    """

    __tablename__ = "monitor_state"

    stream_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)
    block: Mapped[int]
    begun: Mapped[int]
    part: Mapped[int] = mapped_column(SmallInteger)
    baseline_id: Mapped[int | None]
    log_bets: Mapped[list[float]] = mapped_column(ARRAY(Double))
    log_recovery: Mapped[list[float]] = mapped_column(ARRAY(Double))
    level: Mapped[str]
    opened: Mapped[int | None]
    hold: Mapped[str | None]


class AlertRow(Tables):
    """A fall that was told, from its first warning to its end; at most one of a stream is open.

    Attributes:
        kind: `warn`, or `page` from when it was one; `resolve` once it has ended by recovery.
        opened_at: the end of the block that raised it.
        paged_at: the end of the block that made it a page.
        since: when the fall began, by what is known.
        closed_at: the end of the block that resolved it, or when a person closed it.
        told_at: when it was written.
        explanation: numbers, names and ids of traces.
        acked_at, accepted_at, false_at: when a person marked it so.
        reason: of that person.
    """

    __tablename__ = "alert"
    __table_args__ = (
        Index("ix_alert_open", "stream_id", unique=True, postgresql_where=text("closed_at IS NULL")),
        Index("ix_alert_opened_at", "opened_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    stream_id: Mapped[int]
    app: Mapped[str]
    environment: Mapped[str]
    kind: Mapped[str]
    opened_at: Mapped[datetime]
    paged_at: Mapped[datetime | None]
    since: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    told_at: Mapped[datetime]
    baseline_id: Mapped[int]
    explanation: Mapped[dict[str, Any]]
    acked_at: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]
    false_at: Mapped[datetime | None]
    reason: Mapped[str | None]


class AlertNoticeRow(Tables):
    """Something that is to be told of an alert to one sink, written in the transaction in which it happened.

    Attributes:
        notice_id: names it to who receives it, however often it is sent.
        event: what happened.
        due_at: when it is tried next.
        attempts: failed ones.
        dropped_at: when it was given up.
    """

    __tablename__ = "alert_notice"
    __table_args__ = (
        Index("ix_alert_notice_alert_id", "alert_id", "sink"),
        Index(
            "ix_alert_notice_waiting",
            "sink",
            "id",
            postgresql_where=text("delivered_at IS NULL AND dropped_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    notice_id: Mapped[str]
    alert_id: Mapped[int] = mapped_column(BigInteger)
    sink: Mapped[str]
    event: Mapped[str]
    noted_at: Mapped[datetime]
    due_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(server_default="0")
    delivered_at: Mapped[datetime | None]
    dropped_at: Mapped[datetime | None]
