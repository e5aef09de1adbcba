"""What came from each application and environment, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.transitions import UNFINISHED
from ragsonde_schemas.watched import Place, PlaceActivity, Sufficiency

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

MOST_PLACES = 100

_ACTIVITY = text(
    """
SELECT t.app, t.environment, count(*) AS revisions, max(t.admitted_at) AS last_admitted_at,
    count(*) FILTER (WHERE x.contexts = '[]'::jsonb) AS empty
FROM trace t LEFT JOIN trace_text x USING (trace_id, app, record_key, revision, day)
WHERE t.admitted_at >= :since
GROUP BY t.app, t.environment ORDER BY revisions DESC, t.app, t.environment LIMIT :most
"""
)
_WAITING = text("SELECT count(*) FROM evaluation WHERE state = ANY(:states) AND app = :app")
_SUFFICIENCY = text(
    """
SELECT a.judge, count(*) AS assessed,
    count(*) FILTER (WHERE (a.verdicts ->> 'insufficient')::boolean) AS insufficient
FROM assessment a
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE a.created_at >= :since AND a.app = :app AND t.environment = :environment
  AND e.state <> 'superseded' AND a.verdicts ->> 'insufficient' IS NOT NULL
GROUP BY a.judge ORDER BY a.judge
"""
)


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
                empty=row["empty"],
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


def count_sufficiency(engine: Engine, place: Place, *, since: datetime) -> tuple[Sufficiency, ...]:
    """How often the contexts of a place's traces lack the answer, for each judge that was asked.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    parameters = {"since": since, **place.model_dump()}
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(_SUFFICIENCY, parameters).mappings()
        return tuple(Sufficiency(**row) for row in rows)
