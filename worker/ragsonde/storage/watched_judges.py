"""Where judges stand for all workers: who is paused and why, and how much waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import fetch, reading_days
from ragsonde_schemas.watched_alert import MOST_WAITING, JudgeStanding

if TYPE_CHECKING:
    from sqlalchemy import Engine

_STANDINGS = """
WITH waiting AS (
    SELECT judge, fingerprint, count(*) AS n, min(created_at) AS since
    FROM (SELECT judge, fingerprint, created_at FROM evaluation WHERE state = 'waiting' LIMIT %(most)s) w
    GROUP BY judge, fingerprint
)
SELECT judge, fingerprint, coalesce(w.n, 0) AS waiting, w.since AS waits_since, s.paused_since,
    coalesce(s.pause_message, '') AS pause_message
FROM waiting w FULL JOIN (SELECT * FROM judge_state WHERE paused_since IS NOT NULL) s
    USING (judge, fingerprint)
ORDER BY judge, fingerprint
"""


def list_standings(engine: Engine) -> tuple[JudgeStanding, ...]:
    """Judges that are paused or waited for, by name; none where nothing is wrong.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with reading_days(engine) as connection:
        rows = fetch(connection, _STANDINGS, {"most": MOST_WAITING})
    moments = ("waits_since", "paused_since")
    return tuple(
        JudgeStanding(**{**row, **{name: row[name] and to_utc(row[name]) for name in moments}})
        for row in rows
    )
