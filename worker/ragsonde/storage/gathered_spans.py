"""What is known of the spans of a trace: for those who ask what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from ragsonde.storage.span_tables import OpenRecordRow
from ragsonde_schemas.history import GatheredSpans
from ragsonde_schemas.open_record import ClosingReason

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
