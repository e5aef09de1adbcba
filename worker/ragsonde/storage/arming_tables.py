"""Streams that took the place of others, as a judge or a scorer was changed."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class StreamArmingRow(Tables):
    """How a stream that took the place of another one gets its baseline.

    Attributes:
        old_stream_id: of the stream whose place it took.
        way: `backfill`, `rescore`, or `live` where nothing stored can be used.
        begun_at: blocks that begin before are what its baseline is made of, and are not judged: UTC, on the
            grid of blocks.
        ended_at: when all that is stored was scored; null: it is under way, and the stream is not judged.
        seen_out_at: when the old stream's state was put away, days after its last trace.
        backfill_id: that scores stored traces; one backfill may be of many streams.
        scored_until: of a rescoring, the last day that is done.
        done, foreseen: of a rescoring, evaluations.
        outcome: how it ended, or why nothing stored can be used.
    """

    __tablename__ = "stream_arming"
    __table_args__ = (Index("ix_stream_arming_old_stream_id", "old_stream_id"),)

    stream_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    old_stream_id: Mapped[int]
    way: Mapped[str]
    begun_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    seen_out_at: Mapped[datetime | None]
    backfill_id: Mapped[int | None] = mapped_column(BigInteger)
    scored_until: Mapped[date | None]
    done: Mapped[int] = mapped_column(server_default="0")
    foreseen: Mapped[int] = mapped_column(server_default="0")
    outcome: Mapped[str | None]
