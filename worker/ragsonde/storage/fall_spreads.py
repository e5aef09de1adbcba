"""How the scores of a stream lie before and since a fall of it, from what was counted by five minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.watched import BINS
from ragsonde_schemas.watched_fall import ScoreSpread

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

_FIND_BASELINE = text(
    "SELECT b.since, b.until FROM alert a JOIN baseline b ON b.id = a.baseline_id WHERE a.id = :number"
)
# as `FIND_BIN`: hundredths, rounded up, are gathered to tenths
_COUNT = text(
    """
SELECT greatest(0, (u.bin + 9) / 10 - 1) AS bin, sum(u.n)::bigint AS n
FROM alert a JOIN score_block b ON b.stream_id = a.stream_id
CROSS JOIN LATERAL unnest(b.bins, b.counts) AS u(bin, n)
WHERE a.id = :number AND b.start >= :since AND b.start < :until AND b.day BETWEEN :first_day AND :last_day
GROUP BY 1
"""
)


def read_spreads(
    connection: Connection, alert: int, *, since: datetime, until: datetime
) -> tuple[ScoreSpread | None, ScoreSpread | None]:
    """Scores of the time that the baseline of an alert is made of, and of the fall; None where none is kept.

    Args:
        connection: of the caller's.
        alert: its number.
        since: when the fall began.
        until: where what is read of it ends.
    """
    baseline = connection.execute(_FIND_BASELINE, {"number": alert}).first()
    before = None
    if baseline is not None:
        before = _read(connection, alert, since=to_utc(baseline.since), until=to_utc(baseline.until))
    return before, _read(connection, alert, since=since, until=until)


def _read(connection: Connection, alert: int, *, since: datetime, until: datetime) -> ScoreSpread | None:
    columns = {
        "number": alert,
        "since": since,
        "until": until,
        "first_day": since.date(),
        "last_day": until.date(),
    }
    found = {row.bin: row.n for row in connection.execute(_COUNT, columns)}
    if not found:
        return None
    return ScoreSpread(since=since, until=until, bins=tuple(found.get(bin_, 0) for bin_ in range(BINS)))
