"""Whether anything was stored since a moment: a worker that lives stores something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import ScoreRow, TraceRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine


def has_stored(engine: Engine, *, since: datetime) -> bool:
    """True where a trace was accepted or a score stored since then.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    accepted = select(TraceRow.trace_id).where(TraceRow.admitted_at >= since).exists()
    scored = select(ScoreRow.trace_id).where(ScoreRow.created_at >= since).exists()
    with translating_losses(), engine.connect() as connection:
        return connection.execute(select(or_(accepted, scored))).scalar_one()
