"""What became of judgements just before blocks that are judged: sums, without their histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from sqlalchemy import Connection

_READ = text(
    """
SELECT stream_id, array_agg(block), array_agg(n), array_agg(failed) FROM (
    SELECT b.stream_id, (extract(epoch FROM b.start) / 300)::int AS block, sum(b.n)::int AS n,
        sum(b.failed)::int AS failed
    FROM unnest(CAST(:streams AS int[]), CAST(:until AS timestamptz[])) AS given(stream, until)
    JOIN score_block b ON b.stream_id = given.stream
      AND b.start >= given.until - CAST(:span AS interval) AND b.start < given.until
    WHERE b.day BETWEEN :first_day AND :last_day
    GROUP BY 1, 2) AS summed
GROUP BY stream_id
"""
)


def read_outcomes(
    connection: Connection, until: Mapping[int, datetime], *, span: timedelta
) -> dict[int, dict[int, tuple[int, int]]]:
    """How many were scored and how many failed, by stream and block; of streams and blocks that have any.

    Args:
        connection: in a transaction.
        until: of each stream the first block that is not wanted.
        span: how far before it to begin.
    """
    if not until:
        return {}
    columns = {
        "streams": list(until),
        "until": list(until.values()),
        "span": span,
        "first_day": (min(until.values()) - span).date(),
        "last_day": max(until.values()).date(),
    }
    return {
        stream: dict(zip(blocks, zip(scored, failed, strict=True), strict=True))
        for stream, blocks, scored, failed in connection.execute(_READ, columns).all()
    }
