"""The outbox of alerts: what is to be told where, written with what happened, kept until it was taken."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.alert_notice import ENDS, AlertEvent

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection, Engine

KEPT_NOTICES = timedelta(days=30)
_LOOKED_BACK = timedelta(days=7)
"""Of what people closed: a monitor may have been away."""

_COLUMNS = "notice_id, alert_id, sink, event, noted_at, due_at"
_NOTE = text(
    f"""
INSERT INTO alert_notice ({_COLUMNS})
SELECT gen_random_uuid()::text, a.id, given.sink, :event, :now, :now
FROM alert a CROSS JOIN unnest(CAST(:sinks AS text[])) AS given(sink)
WHERE a.id = :alert
ORDER BY given.sink
"""  # noqa: S608  # constants
)
_IS_TOLD = "SELECT FROM alert_notice n WHERE n.alert_id = a.id AND n.sink = :sink"
_NOTE_ENDS = text(
    f"""
INSERT INTO alert_notice ({_COLUMNS})
SELECT gen_random_uuid()::text, a.id, :sink,
    CASE WHEN a.accepted_at IS NOT NULL THEN '{AlertEvent.ACCEPTED}'
        WHEN a.false_at IS NOT NULL THEN '{AlertEvent.FALSE}' ELSE '{AlertEvent.CLOSED}' END, :now, :now
FROM alert a WHERE a.closed_at >= :since AND a.kind <> 'resolve' AND EXISTS ({_IS_TOLD})
  AND NOT EXISTS ({_IS_TOLD} AND n.event = ANY(CAST(:ends AS text[])))
ORDER BY a.closed_at, a.id
"""  # noqa: S608  # constants
)
_REMIND = text(
    f"""
INSERT INTO alert_notice ({_COLUMNS})
SELECT gen_random_uuid()::text, a.id, :sink, '{AlertEvent.REMINDER}', :now, :now
FROM alert a WHERE a.closed_at IS NULL AND a.paged_at IS NOT NULL AND a.acked_at IS NULL
  AND EXISTS ({_IS_TOLD}) AND NOT EXISTS ({_IS_TOLD} AND n.noted_at > :since)
ORDER BY a.id
"""  # noqa: S608  # constants
)
_LIST = text(
    """
SELECT n.id, n.notice_id, n.alert_id, n.event, n.noted_at, n.attempts FROM alert_notice n
WHERE n.sink = :sink AND n.delivered_at IS NULL AND n.dropped_at IS NULL AND n.due_at <= :now
  AND NOT EXISTS (SELECT FROM alert_notice earlier
    WHERE earlier.alert_id = n.alert_id AND earlier.sink = n.sink AND earlier.id < n.id
      AND earlier.delivered_at IS NULL AND earlier.dropped_at IS NULL)
ORDER BY n.id LIMIT :most
"""
)
_DELIVERED = text("UPDATE alert_notice SET delivered_at = :now WHERE id = :number")
_POSTPONE = text("UPDATE alert_notice SET attempts = attempts + 1, due_at = :until WHERE id = :number")
_DROP = text("UPDATE alert_notice SET attempts = attempts + 1, dropped_at = :now WHERE id = :number")
_TIDY = text(
    """
DELETE FROM alert_notice n WHERE n.noted_at < :oldest AND NOT EXISTS (SELECT FROM alert a
    WHERE a.id = n.alert_id AND (a.closed_at IS NULL OR a.closed_at >= :oldest))
"""
)
"""By the notices of an alert it is known where its end, and that it is still open, is to be told."""


class DueNotice(NamedTuple):
    """A notice that is to be sent now; the earlier ones of its alert were.

    Attributes:
        number: of the row; `notice_id` is what receivers know it by.
        attempts: that failed.
    """

    number: int
    notice_id: str
    alert: int
    event: AlertEvent
    noted_at: datetime
    attempts: int


def note_alert(
    connection: Connection, alert: int, event: AlertEvent, *, sinks: Collection[str], now: datetime
) -> None:
    """Puts a notice for each sink into the outbox, in the transaction of what it tells of.

    That a warning became a page is told also where somebody has acknowledged the warning.
    """
    if sinks:
        columns = {"alert": alert, "event": event.value, "sinks": list(sinks), "now": now}
        connection.execute(_NOTE, columns)


def note_ends(engine: Engine, sink: str, *, now: datetime) -> None:
    """Notes the alerts of the last 7 days that the sink knows of and a person closed.

    Raises:
        DatabaseLostError: nothing was noted, or all.
    """
    columns = {"sink": sink, "now": now, "since": now - _LOOKED_BACK, "ends": list(ENDS)}
    with translating_losses(), engine.begin() as connection:
        connection.execute(_NOTE_ENDS, columns)


def note_reminders(engine: Engine, sink: str, *, now: datetime, pause: timedelta) -> None:
    """Notes the open pages that nobody has acknowledged and of which nothing was noted for so long.

    Raises:
        DatabaseLostError: nothing was noted, or all.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_REMIND, {"sink": sink, "now": now, "since": now - pause})


def list_due(engine: Engine, sink: str, *, now: datetime, most: int) -> tuple[DueNotice, ...]:
    """What is to be sent to a sink, the oldest first; of each alert one.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"sink": sink, "now": now, "most": most}
    with translating_losses(), engine.connect() as connection:
        return tuple(
            DueNotice(number, notice_id, alert, AlertEvent(event), to_utc(noted_at), attempts)
            for number, notice_id, alert, event, noted_at, attempts in connection.execute(_LIST, columns)
        )


def mark_delivered(engine: Engine, notice: DueNotice, *, now: datetime) -> None:
    """It was taken, and is not sent again.

    Raises:
        DatabaseLostError: it is sent again, unless it was marked.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_DELIVERED, {"number": notice.number, "now": now})


def postpone_notice(engine: Engine, notice: DueNotice, *, until: datetime) -> None:
    """It was not taken, and is sent again then.

    Raises:
        DatabaseLostError: it is sent again earlier.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_POSTPONE, {"number": notice.number, "until": until})


def drop_notice(engine: Engine, notice: DueNotice, *, now: datetime) -> None:
    """It was not taken, and is given up.

    Raises:
        DatabaseLostError: it is sent once more.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_DROP, {"number": notice.number, "now": now})


def tidy_notices(engine: Engine, *, now: datetime) -> None:
    """Forgets what is older than 30 days, sent or not, of alerts that ended more than 30 days ago.

    Raises:
        DatabaseLostError: some may be forgotten.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_TIDY, {"oldest": now - KEPT_NOTICES})
