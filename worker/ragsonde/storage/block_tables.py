"""Scores counted by stream, stratum and five minutes, and which of these counts must be made anew."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    UniqueConstraint,
    func,
)
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables

STREAM_KEY = ("scorer", "version", "judge", "fingerprint", "judge_epoch", "app", "environment")


class ScoreStreamRow(Tables):
    """A stream, numbered: blocks are many, and name it by four bytes.

    Attributes:
        first_seen_at: when it was first counted.
    """

    __tablename__ = "score_stream"
    __table_args__ = (UniqueConstraint(*STREAM_KEY),)

    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    scorer: Mapped[str]
    version: Mapped[str]
    judge: Mapped[str]
    fingerprint: Mapped[str]
    judge_epoch: Mapped[int]
    app: Mapped[str]
    environment: Mapped[str]
    first_seen_at: Mapped[datetime]


class ScoreBlockRow(Tables):
    """A block of a stream, partitioned by the day it began on.

    Attributes:
        bins, counts: of the histogram, what is not 0; most traces of five minutes score alike.
        built_at: when it was counted.
    """

    __tablename__ = "score_block"
    __table_args__ = (
        PrimaryKeyConstraint("stream_id", "start", "stratum", "day"),
        {"postgresql_partition_by": "RANGE (day)"},
    )

    stream_id: Mapped[int]
    start: Mapped[datetime]
    stratum: Mapped[str]
    day: Mapped[date]
    n: Mapped[int]
    total: Mapped[float]
    squares: Mapped[float]
    failed: Mapped[int]
    bins: Mapped[list[int]] = mapped_column(ARRAY(SmallInteger))
    counts: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    built_at: Mapped[datetime]


class ExtractionBlockRow(Tables):
    """By which rules the fields of a place's traces of five minutes were found.

    Attributes:
        start: of the block.
        rules: by field and rule, how many traces.
    """

    __tablename__ = "extraction_block"
    __table_args__ = (Index("ix_extraction_block_start", "start"),)

    app: Mapped[str] = mapped_column(primary_key=True)
    environment: Mapped[str] = mapped_column(primary_key=True)
    start: Mapped[datetime] = mapped_column(primary_key=True)
    rules: Mapped[dict[str, Any]]


class DirtyMarkRow(Tables):
    """The blocks of a stretch of time whose counts may be wrong; gone once they were counted anew.

    Attributes:
        app, environment: whose; both null: of all.
        since, until: on the grid of blocks.
        marked_at: Postgres's time, as who marks may have no other; only to tell how long it has waited.
    """

    __tablename__ = "dirty_mark"
    __table_args__ = (CheckConstraint("since < until", name="is_a_stretch"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    app: Mapped[str | None]
    environment: Mapped[str | None]
    since: Mapped[datetime]
    until: Mapped[datetime]
    marked_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ScoreBlockCursorRow(Tables):
    """How far the counting has come: one row.

    Attributes:
        scanned_until: what changed before this is marked.
        closed_until: blocks that ended by then are closed, and were counted; null before the first.
    """

    __tablename__ = "score_block_cursor"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    scanned_until: Mapped[datetime]
    closed_until: Mapped[datetime | None]
