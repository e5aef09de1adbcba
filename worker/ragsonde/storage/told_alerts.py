"""Alerts as they are read by people: what was told of which stream, and what was done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.watched_fall import Fall, FallState

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine, RowMapping

_READ = text(
    f"""
SELECT a.id, a.kind, a.opened_at, a.paged_at, a.since, a.closed_at, a.told_at, a.acked_at, a.accepted_at,
    a.false_at, a.reason, a.explanation,
    {", ".join(f"s.{name}" for name in STREAM_KEY)}
FROM alert a
JOIN score_stream s ON s.id = a.stream_id
WHERE (CAST(:number AS bigint) IS NULL OR a.id = :number)
  AND (CAST(:app AS text) IS NULL OR a.app = :app)
  AND (CAST(:environment AS text) IS NULL OR a.environment = :environment)
  AND (CAST(:since AS timestamptz) IS NULL OR a.closed_at IS NULL OR a.closed_at >= :since)
  AND (CAST(:until AS timestamptz) IS NULL OR a.opened_at < :until)
  AND CASE CAST(:state AS text)
    WHEN 'open' THEN a.closed_at IS NULL WHEN 'closed' THEN a.closed_at IS NOT NULL
    WHEN 'page' THEN a.paged_at IS NOT NULL WHEN 'false' THEN a.false_at IS NOT NULL ELSE true END
ORDER BY a.closed_at IS NOT NULL, a.opened_at DESC, a.id DESC LIMIT :most
"""  # noqa: S608  # constants
)
MOST_ALERTS = 1000
MOST_NUMBER = 2**63 - 1
"""Of an alert, as the column of its number is a bigint."""


def list_alerts(
    engine: Engine,
    *,
    app: str | None = None,
    environment: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    state: FallState = FallState.ALL,
    most: int = MOST_ALERTS,
) -> tuple[Fall, ...]:
    """Alerts, the open ones first, then the newest.

    Args:
        engine: of this process.
        app: of this one only.
        environment: of this one only.
        since: leaves out what was closed before.
        until: leaves out what was opened then or later.
        state: only those that stand so.
        most: at most so many.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "number": None,
        "app": app,
        "environment": environment,
        "since": since,
        "until": until,
        "state": state.value,
        "most": most,
    }
    with translating_losses(), engine.connect() as connection:
        return tuple(_build(row) for row in connection.execute(_READ, columns).mappings())


def find_alert(engine: Engine, number: int) -> Fall | None:
    """The alert of that number; None where there is none.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "number": number,
        "app": None,
        "environment": None,
        "since": None,
        "until": None,
        "state": FallState.ALL.value,
        "most": 1,
    }
    with translating_losses(), engine.connect() as connection:
        row = connection.execute(_READ, columns).mappings().one_or_none()
    return None if row is None else _build(row)


def _build(row: RowMapping) -> Fall:
    moments = {
        name: None if row[name] is None else to_utc(row[name])
        for name in ("paged_at", "closed_at", "acked_at", "accepted_at", "false_at")
    }
    return Fall(
        number=row["id"],
        stream=ScoreStream(**{name: row[name] for name in STREAM_KEY}),
        kind=row["kind"],
        opened_at=to_utc(row["opened_at"]),
        since=to_utc(row["since"]),
        told_at=to_utc(row["told_at"]),
        reason=row["reason"],
        explanation=row["explanation"],
        **moments,
    )
