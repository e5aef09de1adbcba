"""Streams of which no score is shown: another version has scored their traces, and this one was only tried.

Each version of a scorer has counts of its own, also one that stands beside the shown one after a rescoring.
What it says is what somebody wanted to see, and no reason to wake anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import BLOCK

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

_BASIS = "split_part({0}.version, ':', 2)"
# streams of one version only are most: these are left out before any of their blocks is looked at
_DOUBTFUL = text(
    f"""
WITH pair AS MATERIALIZED (
    SELECT g.id, o.id AS other FROM score_stream g JOIN score_stream o USING (scorer, judge, app, environment)
    WHERE g.id = ANY(CAST(:streams AS int[])) AND o.version <> g.version
      AND {_BASIS.format("o")} = {_BASIS.format("g")})
SELECT one.id, newest.start
FROM (SELECT DISTINCT id FROM pair) one
CROSS JOIN LATERAL (
    SELECT max(b.start) AS start FROM score_block b
    WHERE b.stream_id = one.id AND b.n > 0 AND b.start < :until AND b.day <= CAST(:until AS date)) newest
WHERE EXISTS (SELECT FROM pair p JOIN score_block b ON b.stream_id = p.other
    WHERE p.id = one.id AND b.start = newest.start AND b.n > 0)
ORDER BY one.id
"""  # noqa: S608  # constants
)
_KEY = ("trace_id", "app", "record_key", "revision")
_IS_SHOWN = text(
    f"""
SELECT bool_or(shown.is_there) FROM trace t
JOIN score_stream g ON g.id = :stream AND g.app = t.app AND g.environment = t.environment
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM current_score c WHERE {" AND ".join(f"c.{name} = s.{name}" for name in _KEY)}
          AND c.day = :day AND c.judge = s.judge AND c.fingerprint = s.fingerprint AND c.scorer = s.scorer
          AND c.version = s.version) AS is_there
    FROM score s
    WHERE {" AND ".join(f"s.{name} = t.{name}" for name in _KEY)} AND s.day = :day AND s.judge = g.judge
      AND s.scorer = g.scorer AND s.version = g.version AND s.status = 'scored'
      AND s.judge_epoch = g.judge_epoch AND coalesce(s.answered_fingerprint, s.fingerprint) = g.fingerprint
    OFFSET 0) shown
WHERE t.day = :day AND t.occurred_at >= :start AND t.occurred_at < :end
"""  # noqa: S608  # constants
)
_INACTIVE = text(
    """
SELECT s.id FROM score_stream s JOIN scorer_version v ON v.scorer = s.scorer AND v.is_active
WHERE s.id = ANY(CAST(:streams AS int[])) AND v.version NOT IN (s.version, split_part(s.version, ':', 1))
"""
)


def find_tried(connection: Connection, streams: Collection[int], *, until: datetime) -> frozenset[int]:
    """The streams whose newest block holds only scores beside which another version's are shown.

    Workers that have changed to a version, or are told to go on with another one than is active, score traces
    that no other version has: their stream is none of these from its next block on. Nor is one whose scores
    retention has dropped: it is not known.

    Args:
        connection: of the caller's.
        streams: their numbers.
        until: of blocks before then the newest one.
    """
    doubtful = connection.execute(_DOUBTFUL, {"streams": list(streams), "until": until}).all()
    tried = set()
    for number, newest in doubtful:
        start = to_utc(newest)
        columns = {"stream": number, "day": start.date(), "start": start, "end": start + BLOCK}
        if connection.execute(_IS_SHOWN, columns).scalar_one() is False:
            tried.add(number)
    return frozenset(tried)


def find_unshown(connection: Connection, streams: Collection[int], *, until: datetime) -> frozenset[int]:
    """The same and those that an active version of their scorer hides, as the page shows them."""
    hidden = connection.execute(_INACTIVE, {"streams": list(streams)}).scalars()
    return find_tried(connection, streams, until=until) | frozenset(hidden)
