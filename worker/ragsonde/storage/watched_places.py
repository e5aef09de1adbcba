"""What came from each application and environment, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.transitions import UNFINISHED
from ragsonde_schemas.watched import Place, PlaceActivity

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

MOST_PLACES = 100

_ACTIVITY = text(
    """
SELECT app, environment, count(*) AS revisions, max(admitted_at) AS last_admitted_at
FROM trace WHERE admitted_at >= :since
GROUP BY app, environment ORDER BY revisions DESC, app, environment LIMIT :most
"""
)
_WAITING = text("SELECT count(*) FROM evaluation WHERE state = ANY(:states) AND app = :app")


def list_activity(engine: Engine, *, since: datetime) -> tuple[PlaceActivity, ...]:
    """Applications and environments of which something was accepted since then, the busiest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(_ACTIVITY, {"since": since, "most": MOST_PLACES}).mappings()
        return tuple(
            PlaceActivity(
                place=Place(app=row["app"], environment=row["environment"]),
                revisions=row["revisions"],
                last_admitted_at=to_utc(row["last_admitted_at"]),
            )
            for row in rows
        )


def count_waiting(engine: Engine, *, app: str) -> int:
    """Evaluations of an app that wait or run, of any age.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    states = sorted(state.value for state in UNFINISHED)
    with translating_losses(), engine.connect() as connection:
        return int(connection.execute(_WAITING, {"states": states, "app": app}).scalar_one())
