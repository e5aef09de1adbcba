"""How long traces take from when they occurred to when they are scored, as Postgres has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses

if TYPE_CHECKING:
    from datetime import date, datetime, timedelta

    from sqlalchemy import Engine

MOST_EVALUATIONS = 5_000
"""The p99 of so many is known well enough, and read in a moment."""

_P99 = text(
    """
SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY took) FROM (
    SELECT e.finished_at - t.occurred_at AS took
    FROM evaluation e JOIN trace t USING (trace_id, app, record_key, revision, day)
    WHERE e.created_at >= :since AND e.day >= :first_day AND t.day >= :first_day
      AND e.state IN ('scored', 'not_evaluable', 'failed') AND NOT e.is_added AND e.backfill_id IS NULL
    LIMIT :most) AS taken
"""
)


def read_end_to_end_p99(engine: Engine, *, since: datetime, first_day: date) -> timedelta | None:
    """The 99th percentile of live evaluations that were born since then; None where none has ended.

    Args:
        engine: of this process.
        since: by the clock of the stores.
        first_day: days before are not looked at.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"since": since, "first_day": first_day, "most": MOST_EVALUATIONS}
    with translating_losses(), engine.connect() as connection:
        found: timedelta | None = connection.execute(_P99, columns).scalar_one()
    return found
