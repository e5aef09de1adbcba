"""Sums of live scores from what was counted by five minutes: exact and quick, however many there are.

Blocks that are not closed, or whose counts may be wrong, are read from the rows of scores: so what has just
come is in the sums, and nothing is in them twice. Blocks count what backfills brought or added too, and of a
trace that was scored anew each version: days on which either is the case are for who reads rows.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.changed_blocks import CHANGES
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.score_sums import ScoreSums
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import Stretch, fetch, reading_days
from ragsonde.storage.watched_scores import SCORES, WHOLE
from ragsonde_schemas.score_stream import BLOCK, begin_block

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Engine

MOST_READ = 48
"""Of blocks that are read from rows: four hours; where more are to be counted anew, all is read from rows."""
_SKEW = timedelta(minutes=1)
"""By which clocks and transactions may make a change look older than the last look for changes."""

_PROGRESS = text("SELECT scanned_until, closed_until FROM score_block_cursor WHERE id = 1")
_MARKS = text("SELECT since, until FROM dirty_mark WHERE until > :since AND since < :until")
_HAS_BACKFILLS = text("SELECT EXISTS (SELECT FROM backfill WHERE created_at >= :since)")
_IS_BROUGHT = text("SELECT EXISTS (SELECT FROM evaluation WHERE day = :day AND backfill_id IS NOT NULL)")
_CHANGES = text(CHANGES)

_STREAM = "s.app, s.environment, s.judge, s.fingerprint, s.judge_epoch AS epoch, s.scorer, s.version"
_BLOCKS = "score_block b JOIN score_stream s ON s.id = b.stream_id"
_IS_COUNTED = """b.day BETWEEN %(first_day)s AND %(last_day)s AND b.start >= %(since)s AND b.start < %(until)s
  AND b.n > 0 AND NOT b.start = ANY(%(read)s)
  AND NOT EXISTS (SELECT FROM scorer_version v WHERE v.scorer = s.scorer AND v.is_active
    AND v.version NOT IN (s.version, split_part(s.version, ':', 1)))"""
_SUMS = f"""
SELECT {_STREAM}, sum(b.n)::bigint AS n, sum(b.total) / sum(b.n) AS mean,
    greatest(0, sum(b.squares) / sum(b.n) - (sum(b.total) / sum(b.n)) ^ 2) AS variance
FROM {_BLOCKS}
WHERE {_IS_COUNTED} GROUP BY s.id
"""  # noqa: S608  # constants
# as `FIND_BIN`: hundredths, rounded up, are gathered to tenths
_BINS = f"""
SELECT {_STREAM}, greatest(0, (u.bin + 9) / 10 - 1) AS bin, sum(u.n)::bigint AS n
FROM {_BLOCKS} CROSS JOIN LATERAL unnest(b.bins, b.counts) AS u(bin, n)
WHERE {_IS_COUNTED} GROUP BY s.id, 8
"""  # noqa: S608  # constants


class _Plan(NamedTuple):
    """What is taken from counts and what from rows.

    Attributes:
        counted: the blocks whose counts are taken.
        read: those among them that are read from rows instead.
        pieces: all that is read from rows.
    """

    counted: Stretch
    read: list[datetime]
    pieces: list[Stretch]


def sum_counted(
    engine: Engine, stretch: Stretch, *, now: datetime, has_bins: bool = True
) -> ScoreSums | None:
    """The sums of the live scores of a stretch of time; None where the counts cannot tell them.

    The same as rows of scores tell, but for causes and thresholds, which nobody counts.

    Args:
        engine: of this process.
        stretch: of the time at which traces occurred.
        now: of the same clock as the stores'.
        has_bins: with histograms.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        plan = _plan(connection, stretch, now=now)
        if plan is None or _has_brought(connection, stretch):
            return None
    sums = ScoreSums()
    with reading_days(engine) as connection:
        columns = {
            **plan.counted.bind(),
            "first_day": plan.counted.since.date(),
            "last_day": plan.counted.until.date(),
            "read": plan.read,
        }
        sums.add_counted(fetch(connection, _SUMS, columns))
        if has_bins:
            sums.add_bins(fetch(connection, _BINS, columns))
        statement = SCORES.format(scores=WHOLE, part="s.status = 'scored'")
        for piece in plan.pieces:
            for day in piece.days:
                sums.add(fetch(connection, statement, {**piece.bind(), "day": day}))
    return None if sums.has_mixed_streams() else sums


def _plan(connection: Connection, stretch: Stretch, *, now: datetime) -> _Plan | None:
    progress = connection.execute(_PROGRESS).first()
    if progress is None or progress.closed_until is None:
        return None
    begin = begin_block(stretch.since + BLOCK - timedelta(microseconds=1))
    end = max(begin, min(to_utc(progress.closed_until), begin_block(stretch.until)))
    counted = Stretch(begin, end)
    read = sorted(_find_read(connection, counted, scanned_until=to_utc(progress.scanned_until)))
    open_blocks = (min(stretch.until, now) - end) / BLOCK
    if len(read) + max(0.0, open_blocks) > MOST_READ:
        return None
    edges = (Stretch(stretch.since, min(begin, stretch.until)), Stretch(end, stretch.until))
    pieces = [*edges, *(Stretch(start, start + BLOCK) for start in read)]
    return _Plan(counted, read, [one for one in pieces if one.since < one.until])


def _find_read(connection: Connection, counted: Stretch, *, scanned_until: datetime) -> set[datetime]:
    """The blocks whose counts may be wrong: what is marked, and what nobody has looked at yet."""
    bounds = {"since": counted.since, "until": counted.until}
    changed = {
        "since": scanned_until - _SKEW,
        "until": None,
        "first_day": counted.since.date() - timedelta(days=1),
    }
    starts = {to_utc(row.start) for row in connection.execute(_CHANGES, changed)}
    for since, until in connection.execute(_MARKS, bounds):
        start, end = max(to_utc(since), counted.since), min(to_utc(until), counted.until)
        count = int((end - start) / BLOCK)
        starts |= {start + number * BLOCK for number in range(min(count, MOST_READ + 1))}
    return {start for start in starts if counted.since <= start < counted.until}


def _has_brought(connection: Connection, stretch: Stretch) -> bool:
    """Whether a backfill brought or added any of the evaluations: searched only if there was a backfill."""
    since = {"since": stretch.since - timedelta(days=1)}
    if not connection.execute(_HAS_BACKFILLS, since).scalar_one():
        return False
    return any(connection.execute(_IS_BROUGHT, {"day": day}).scalar_one() for day in stretch.days)
