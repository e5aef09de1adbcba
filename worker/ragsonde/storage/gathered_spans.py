"""What is known of the spans of a trace: for those who ask what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from ragsonde.storage.span_tables import OpenRecordRow
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from sqlalchemy import Connection


class GatheredSpans(Value):
    """The spans of one trace in the buffer.

    Attributes:
        next_close_at: when they are evaluated unless more come; None when that has been done.
        reason: why they are, or were, taken as complete.
        is_stored: they became at least one record; else none of them told of a RAG application.
    """

    format: str
    span_count: int
    has_root: bool
    first_received_at: datetime
    last_received_at: datetime
    next_close_at: datetime | None
    reason: ClosingReason
    is_stored: bool


def find_gathered_spans(connection: Connection, trace_id: str) -> GatheredSpans | None:
    """The spans of a trace; None where none came, or retention has dropped them."""
    columns = OpenRecordRow.__table__.c
    row = connection.execute(select(OpenRecordRow.__table__).where(columns.trace_id == trace_id)).first()
    if row is None:
        return None
    return GatheredSpans(
        format=row.format,
        span_count=row.span_count,
        has_root=row.has_root,
        first_received_at=row.first_received_at,
        last_received_at=row.last_received_at,
        next_close_at=row.next_close_at,
        reason=ClosingReason(row.reason),
        is_stored=bool(row.admitted),
    )
