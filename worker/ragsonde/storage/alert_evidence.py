"""What an alert shows beside numbers: the worst traces of the fall, and what was new near its beginning."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ragsonde.storage.brief_reading import BriefReading
    from ragsonde_schemas.score_stream import ScoreStream

WORST_TRACES = 10
NEAR = timedelta(days=1)
MOST_CHANGES = 10
_SEARCHED = timedelta(days=1)
"""Of the fall, the end: what is worst now is what people look at, and few days are read."""

_WORST = text(
    """
SELECT s.trace_id, s.raw, t.occurred_at
FROM trace t
JOIN evaluation e USING (trace_id, app, record_key, revision, day)
JOIN score s USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE t.day BETWEEN :first_day AND :last_day AND s.day BETWEEN :first_day AND :last_day
  AND e.day BETWEEN :first_day AND :last_day
  AND t.occurred_at >= :since AND t.occurred_at < :until AND e.state <> 'superseded'
  AND s.status = 'scored' AND s.app = :app AND t.environment = :environment AND s.scorer = :scorer
  AND s.version = :version AND s.judge = :judge AND s.judge_epoch = :judge_epoch
  AND coalesce(s.answered_fingerprint, s.fingerprint) = :fingerprint
ORDER BY s.raw, t.occurred_at DESC, s.trace_id LIMIT :most
FOR KEY SHARE OF t SKIP LOCKED
"""
)
"""Who erases a trace waits until the alert that names it is there, and takes it out of it; one that is being
erased is passed over. So no alert names a trace that is gone."""
_NEW_RELEASES = text(
    """
SELECT release, min(occurred_at) AS at FROM trace
WHERE day BETWEEN :first_day AND :last_day AND app = :app AND environment = :environment AND release <> ''
GROUP BY release HAVING min(occurred_at) BETWEEN :near_since AND :near_until ORDER BY 2 LIMIT :most
"""
)
_NEW_STREAMS = text(
    """
SELECT version, judge, fingerprint, judge_epoch, first_seen_at AS at FROM score_stream
WHERE app = :app AND environment = :environment AND scorer = :scorer
  AND first_seen_at BETWEEN :near_since AND :near_until ORDER BY first_seen_at, id LIMIT :most
"""
)


def find_worst_traces(
    reading: BriefReading, stream: ScoreStream, *, since: datetime, until: datetime
) -> list[dict[str, Any]]:
    """The ids of at most 10 traces of the stream with the lowest scores, of the fall's last day.

    Args:
        reading: within the caller's transaction.
        stream: whose scores.
        since: when the fall began.
        until: the end of the block that raised the alert.
    """
    begin = max(since, until - _SEARCHED)
    columns = {
        **stream.model_dump(),
        "since": begin,
        "until": until,
        "first_day": begin.date(),
        "last_day": until.date(),
        "most": WORST_TRACES,
    }
    return [
        {"trace_id": row["trace_id"], "raw": row["raw"], "occurred_at": to_utc(row["occurred_at"])}
        for row in reading.read("traces", _WORST, columns)
    ]


def find_changes(reading: BriefReading, stream: ScoreStream, *, since: datetime) -> list[dict[str, Any]]:
    """Releases, and versions, judges and models of the scorer, first seen within a day of `since`."""
    columns = {
        **stream.model_dump(),
        "near_since": since - NEAR,
        "near_until": since + NEAR,
        "first_day": (since - 2 * NEAR).date(),
        "last_day": (since + NEAR).date(),
        "most": MOST_CHANGES,
    }
    releases = [
        {"kind": "release", "name": row["release"], "at": to_utc(row["at"])}
        for row in reading.read("releases", _NEW_RELEASES, columns)
    ]
    streams = [
        {"kind": "stream", "name": _name(stream, row), "at": to_utc(row["at"])}
        for row in reading.read("streams", _NEW_STREAMS, columns)
    ]
    return sorted(releases + streams, key=lambda one: (one["at"], one["name"]))


def _name(stream: ScoreStream, row: Mapping[str, Any]) -> str:
    scorer = scorer_label(stream.scorer, row["version"])
    return f"{scorer} by {judge_label(row['judge'], row['fingerprint'], row['judge_epoch'])}"
