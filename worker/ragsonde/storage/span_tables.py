"""Where spans are gathered: one row a span, and one row for the trace that they are of."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class SpanRow(Tables):
    """A span in its fullest version; the columns between the ids and its bytes tell which version is fuller.

    Attributes:
        end_ns: the producer's, cut to 64 bits; nothing else reads it.
        attribute_count: of the span itself.
        digest: of `payload`.
        payload: JSON.
    """

    __tablename__ = "span_buffer"

    trace_id: Mapped[str] = mapped_column(primary_key=True)
    span_id: Mapped[str] = mapped_column(primary_key=True)
    end_ns: Mapped[int] = mapped_column(BigInteger)
    attribute_count: Mapped[int]
    digest: Mapped[bytes]
    payload: Mapped[bytes]


class OpenRecordRow(Tables):
    """A trace whose spans are gathered; closed while `next_close_at` is null.

    Attributes:
        app: what shares the sweeper's turns: the service that the root names, '' where unknown.
        opened_at: when the first span came since it was last closed.
        is_cut: spans over the limit were not kept.
        version: counts changes of the set of spans.
        claimed_version: what the last claim read.
        closed_version: what was settled last, 0 = never.
        claims: names the claim that may settle it.
        unfinished_claims: claims since it was last settled.
        lease_until: it is in a worker's hands until then; null when in nobody's.
        queued_until: the sweeper publishes its key again after this.
        admitted: where its records were stored, as JSON.
    """

    __tablename__ = "open_record"
    __table_args__ = (
        Index(
            "ix_open_record_due", "app", "next_close_at", postgresql_where=text("next_close_at IS NOT NULL")
        ),
        Index("ix_open_record_closed", "last_received_at", postgresql_where=text("next_close_at IS NULL")),
    )

    trace_id: Mapped[str] = mapped_column(primary_key=True)
    format: Mapped[str]
    app: Mapped[str]
    first_received_at: Mapped[datetime]
    last_received_at: Mapped[datetime]
    opened_at: Mapped[datetime]
    has_root: Mapped[bool]
    has_end_marker: Mapped[bool]
    is_cut: Mapped[bool]
    span_count: Mapped[int]
    byte_count: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int]
    claimed_version: Mapped[int]
    closed_version: Mapped[int]
    next_close_at: Mapped[datetime | None]
    reason: Mapped[str]
    claims: Mapped[int]
    unfinished_claims: Mapped[int]
    lease_until: Mapped[datetime | None]
    queued_until: Mapped[datetime | None]
    admitted: Mapped[list[Any]]
