"""Which gathered traces are to be closed now: those that are due and in nobody's hands, apps in turns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde.storage.engine import pipelined_transaction
from ragsonde_schemas.open_record import OpenRecordKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

MOST_APPS = 5_000
"""Looked at in one look: so that a producer which names a new app in each trace makes none of them slow."""
MOST_CANDIDATES = 50_000
"""Of all apps of a look together."""

_WALK = """
WITH RECURSIVE walk(app, oldest, place) AS (
    (SELECT app, next_close_at, 1 FROM open_record
     WHERE next_close_at IS NOT NULL AND app >= %(first)s ORDER BY app, next_close_at LIMIT 1)
    UNION ALL
    SELECT further.app, further.next_close_at, walk.place + 1
    FROM walk CROSS JOIN LATERAL (
        SELECT app, next_close_at FROM open_record r
        WHERE r.next_close_at IS NOT NULL AND r.app > walk.app ORDER BY r.app, r.next_close_at LIMIT 1
    ) further
    WHERE walk.place < %(most)s
)
SELECT app, oldest <= %(now)s FROM walk ORDER BY place
"""
"""Apps are found by skipping along the index, each with when its first record is due."""

_IS_FREE = """next_close_at <= %(now)s AND (lease_until IS NULL OR lease_until <= %(now)s)
      AND (queued_until IS NULL OR queued_until <= %(now)s)"""

_TAKE = f"""
WITH due AS (
    SELECT first.trace_id, first.next_close_at,
        row_number() OVER (PARTITION BY apps.app ORDER BY next_close_at, trace_id) AS turn
    FROM unnest(%(apps)s::text[]) AS apps(app) CROSS JOIN LATERAL (
        SELECT trace_id, next_close_at FROM open_record r WHERE r.app = apps.app AND {_IS_FREE}
        ORDER BY next_close_at, trace_id LIMIT %(share)s
    ) first
), chosen AS (
    SELECT trace_id, turn FROM due ORDER BY turn, next_close_at, trace_id LIMIT %(limit)s
), taken AS (
    SELECT r.trace_id, turn FROM open_record r JOIN chosen USING (trace_id)
    WHERE {_IS_FREE} FOR UPDATE OF r SKIP LOCKED
)
UPDATE open_record r SET queued_until = %(queued_until)s
FROM taken WHERE r.trace_id = taken.trace_id
RETURNING r.trace_id, turn, next_close_at
"""  # noqa: S608  # constants of this file


class DueRecords:
    """Takes what is due; where there are more apps than `most_apps`, each look goes on behind the one before.

    Args:
        most_apps: that one look looks at.
    """

    def __init__(self, *, most_apps: int = MOST_APPS) -> None:
        self._most_apps = most_apps
        self._first = ""

    def take(
        self, engine: Engine, *, now: datetime, limit: int, queued_for_seconds: int
    ) -> list[OpenRecordKey]:
        """Keys of gathered traces to publish: due, and in nobody's hands.

        Those due longest come first, but apps take turns: a backlog of one keeps no other waiting. They are
        not claimed, and come again only when `queued_for_seconds` are over, as with `sweeping.take_due`.

        Args:
            engine: of this process.
            now: of the same clock as the stores'.
            limit: the most keys to take.
            queued_for_seconds: how long they are left to the queue.

        Raises:
            DatabaseLostError: some may be taken; they come again when the time is over.
        """
        walk = {"first": self._first, "most": self._most_apps, "now": now}
        queued_until = now + timedelta(seconds=queued_for_seconds)
        with pipelined_transaction(engine) as connection:
            seen = connection.execute(_WALK, walk).fetchall()
            apps = [app for app, is_due in seen if is_due]
            share = min(limit, MOST_CANDIDATES // max(1, len(apps)))
            take = {"apps": apps, "share": share, "limit": limit, "now": now, "queued_until": queued_until}
            rows = connection.execute(_TAKE, take).fetchall() if apps else []
        self._first = seen[-1][0] if len(seen) == self._most_apps else ""
        in_order = sorted(rows, key=lambda row: (row[1], row[2], row[0]))
        return [OpenRecordKey(trace_id=trace_id) for trace_id, _, _ in in_order]
