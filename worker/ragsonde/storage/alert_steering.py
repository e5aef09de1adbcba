"""What people do about an alert, written so that nothing is done twice and nothing that was done is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Engine

_READ = text(
    """
SELECT id, stream_id, baseline_id, since, closed_at, acked_at, accepted_at, false_at FROM alert
WHERE id = :alert
"""
)
_ACK = text(
    """
UPDATE alert SET acked_at = :now WHERE id = :alert AND closed_at IS NULL AND acked_at IS NULL RETURNING 1
"""
)
_ACCEPT = text(
    """
UPDATE alert SET accepted_at = :now, closed_at = :now, reason = :reason
WHERE id = :alert AND closed_at IS NULL RETURNING 1
"""
)
_CALL_FALSE = text(
    """
UPDATE alert SET false_at = :now, closed_at = coalesce(closed_at, :now), reason = :reason
WHERE id = :alert AND false_at IS NULL AND accepted_at IS NULL RETURNING 1
"""
)
_COUNT_PAGES = text(
    """
SELECT count(*) AS pages, count(*) FILTER (WHERE false_at IS NOT NULL) AS called_false FROM alert
WHERE paged_at >= :since AND (CAST(:app AS text) IS NULL OR app = :app)
  AND (CAST(:environment AS text) IS NULL OR environment = :environment)
"""
)


class SteeredAlert(NamedTuple):
    """An alert as it is decided about.

    Attributes:
        baseline: the number of the one that it was judged by.
    """

    number: int
    stream: int
    baseline: int
    since: datetime
    closed_at: datetime | None
    acked_at: datetime | None
    accepted_at: datetime | None
    false_at: datetime | None


class PageCounts(NamedTuple):
    """Pages since some time, and how many of them were called false."""

    pages: int
    called_false: int


def read_steered(connection: Connection, alert: int) -> SteeredAlert | None:
    """The alert as it is now; None where there is none."""
    row = connection.execute(_READ, {"alert": alert}).first()
    return None if row is None else SteeredAlert(*row[:3], *(_to_utc(moment) for moment in row[3:]))


def ack_alert(engine: Engine, alert: int, *, now: datetime) -> bool:
    """True where it is known from now on; False where it was before, or is closed.

    It needs no lock: judging never writes this column, and the evidence runs on.

    Raises:
        DatabaseLostError: it is done or not; call again.
    """
    with translating_losses(), engine.begin() as connection:
        return connection.execute(_ACK, {"alert": alert, "now": now}).scalar() is not None


def close_as_accepted(connection: Connection, alert: int, *, reason: str, now: datetime) -> bool:
    """Closes it as intended; False where it is closed."""
    columns = {"alert": alert, "reason": reason, "now": now}
    return connection.execute(_ACCEPT, columns).scalar() is not None


def close_as_false(connection: Connection, alert: int, *, reason: str | None, now: datetime) -> bool:
    """Counts it as false and closes it if it is open; False where it is counted already, or was accepted."""
    columns = {"alert": alert, "reason": reason, "now": now}
    return connection.execute(_CALL_FALSE, columns).scalar() is not None


def count_pages(
    engine: Engine, *, since: datetime, app: str | None = None, environment: str | None = None
) -> PageCounts:
    """The pages since then, of one app and environment or of all.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        columns = {"since": since, "app": app, "environment": environment}
        return PageCounts(*connection.execute(_COUNT_PAGES, columns).one())


def _to_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else to_utc(moment)
