"""Open alerts of streams that have no traces any more: nothing would ever end them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.armings import SEEN_OUT
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import JUDGING_LOCK

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

SCORER_GONE = "its scorer is used no more: other scores of the app go on, and none of it has come since"
APP_GONE = "the app is gone: no trace of it has come since in this environment"

_IS_LIVE = """
SELECT FROM score_block b WHERE b.stream_id = {stream} AND (b.n > 0 OR b.failed > 0)
    AND b.start >= :idle_since AND b.day >= CAST(:idle_since AS date)"""

# a stream that took the place of one must be watched: until then the alert of the old one is all there is
_CLOSE = text(
    f"""
WITH idle AS (
    SELECT a.id AS alert, s.scorer, s.app, s.environment
    FROM alert a JOIN score_stream s ON s.id = a.stream_id
    WHERE a.closed_at IS NULL AND a.told_at < :idle_since
      AND NOT EXISTS ({_IS_LIVE.format(stream="s.id")})),
live AS (
    SELECT s.scorer, s.app, s.environment, (SELECT m.baseline_id FROM monitor_state m
        WHERE m.stream_id = s.id ORDER BY m.day DESC LIMIT 1) IS NOT NULL AS is_watched
    FROM score_stream s
    WHERE (s.app, s.environment) IN (SELECT app, environment FROM idle)
      AND EXISTS ({_IS_LIVE.format(stream="s.id")})),
told AS (
    SELECT i.alert, CASE
        WHEN bool_or(l.is_watched AND l.scorer = i.scorer) THEN :replaced
        WHEN bool_or(l.scorer = i.scorer) THEN NULL
        WHEN count(l.scorer) > 0 THEN :scorer_gone
        ELSE :app_gone END AS reason
    FROM idle i LEFT JOIN live l USING (app, environment) GROUP BY i.alert)
UPDATE alert a SET closed_at = :now, reason = coalesce(a.reason, told.reason)
FROM told WHERE a.id = told.alert AND told.reason IS NOT NULL AND a.closed_at IS NULL
RETURNING a.id, a.reason
"""  # noqa: S608  # constants
)
_CLOSED_UNTIL = text("SELECT closed_until FROM score_block_cursor WHERE id = 1")


class ClosedAlert(NamedTuple):
    """An alert that was closed, and why."""

    alert: int
    reason: str


def close_idle(engine: Engine, *, days: int, now: datetime) -> tuple[ClosedAlert, ...]:
    """Closes the alerts of streams without an outcome in the last days before what is counted.

    Such are the streams of a judge that was rolled back, of a scorer or an app that is used no more. What is
    not counted yet may hold traces, so days of a monitor that was away do not count.

    Args:
        engine: of this process.
        days: without an outcome, and since the alert was told.
        now: of this process's clock.

    Raises:
        DatabaseLostError: it is done wholly or not at all; do it again.
        GivenUpError: nothing was done: a migration is under way, or judging takes too long.
    """
    with translating_losses(), engine.begin() as connection:
        give_way_to_migrations(connection)
        hold_job_lock(connection, JUDGING_LOCK)
        closed_until = connection.execute(_CLOSED_UNTIL).scalar_one_or_none()
        if closed_until is None:
            return ()
        columns = {
            "now": now,
            "idle_since": min(closed_until, now) - timedelta(days=days),
            "replaced": SEEN_OUT,
            "scorer_gone": SCORER_GONE,
            "app_gone": APP_GONE,
        }
        return tuple(ClosedAlert(*row) for row in connection.execute(_CLOSE, columns))
