"""Finds the blocks in which something was scored since it last looked, at no cost to who scores.

Score rows bear the moment in which their evaluation ended, and traces that in which they were admitted; BRIN
finds by these what is new, in whatever day's partition it was stored. Clocks differ and transactions take
their time, so each look reaches ten minutes further back than the one before ended. What it saw there already
it knows by how many rows there were, minute by minute, and the sum of their times: only what has changed
since is marked. A monitor that begins knows nothing, and marks all of the last ten minutes once more.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import text

from ragsonde.storage.dirty_marks import BLOCK_OF, BlockPlace, mark_blocks, mark_stretch
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations
from ragsonde.storage.partitions import DAYS_OF_CLOCK_SKEW
from ragsonde.storage.trace_rows import to_utc

if TYPE_CHECKING:
    from decimal import Decimal

    from sqlalchemy import Connection, Engine

OVERLAP = timedelta(minutes=10)
"""Far more than hosts' clocks may differ (30 s) and a transaction may last (30 s a statement)."""
MOST_AT_ONCE = timedelta(hours=1)
"""Of what happened while no monitor ran."""

_SET = text("SELECT set_config('statement_timeout', :timeout, true)")
_READ = text("SELECT scanned_until, now() FROM score_block_cursor WHERE id = 1 FOR UPDATE")
_BEGIN = text(
    """
INSERT INTO score_block_cursor (id, scanned_until) SELECT 1, least(:now, now())
ON CONFLICT DO NOTHING RETURNING id
"""
)
_ADVANCE = text("UPDATE score_block_cursor SET scanned_until = :scanned_until WHERE id = 1")


def _write_bound(column: str) -> str:
    return f"{column} >= :since AND (CAST(:until AS timestamptz) IS NULL OR {column} < :until)"


# A revision that supersedes others changes their blocks, though no score of theirs is new.
# OFFSET 0: each trace is looked up by its key; a join may read all traces of all days.
CHANGES = f"""
WITH scored AS (
    SELECT trace_id, app, record_key, revision, day, date_trunc('minute', created_at) AS minute,
        count(*) AS seen, sum(extract(epoch FROM created_at)) AS stamps
    FROM score WHERE {_write_bound("created_at")} AND day >= :first_day
    GROUP BY trace_id, app, record_key, revision, day, minute
)
SELECT 'scored' AS kind, s.app, t.environment, {BLOCK_OF.format(moment="t.occurred_at")} AS start, s.minute,
    sum(s.seen)::bigint AS seen, sum(s.stamps) AS stamps
FROM scored s CROSS JOIN LATERAL (
    SELECT environment, occurred_at FROM trace one
    WHERE one.trace_id = s.trace_id AND one.app = s.app AND one.record_key = s.record_key
      AND one.revision = s.revision AND one.day = s.day OFFSET 0) t
GROUP BY s.app, t.environment, start, s.minute
UNION ALL
SELECT 'superseded', t.app, o.environment, {BLOCK_OF.format(moment="o.occurred_at")},
    date_trunc('minute', t.admitted_at), count(*), sum(extract(epoch FROM t.admitted_at))
FROM trace t CROSS JOIN LATERAL (
    SELECT environment, occurred_at FROM trace one
    WHERE one.trace_id = t.trace_id AND one.app = t.app AND one.record_key = t.record_key
      AND one.revision < t.revision AND one.day = t.day OFFSET 0) o
WHERE {_write_bound("t.admitted_at")} AND t.day >= :first_day AND t.revision > 1
GROUP BY 2, 3, 4, 5
"""  # noqa: S608  # constants
_CHANGES = text(CHANGES)


class _Minute(NamedTuple):
    """Changes of one kind of a block, by the minute in which they came."""

    kind: str
    block: BlockPlace
    minute: datetime


class _Sum(NamedTuple):
    rows: int
    stamps: Decimal


class Look(NamedTuple):
    """What a look found.

    Attributes:
        marked: blocks.
        is_up_to_date: nothing older is left to be looked at.
    """

    marked: int
    is_up_to_date: bool


class ChangedBlocks:
    """Marks blocks in which something was scored or superseded; one monitor does it at a time.

    Args:
        engine: of this process.
        timeout_seconds: of one look.
    """

    def __init__(self, engine: Engine, *, timeout_seconds: float = 120.0) -> None:
        self._engine = engine
        self._timeout_seconds = timeout_seconds
        self._seen: dict[_Minute, _Sum] = {}

    def look(self, *, now: datetime, first_day: date) -> Look:
        """Marks what changed since the last look, of an hour at most; the marks and the place are one commit.

        The first look of all marks everything that is stored.

        Args:
            now: of the same clock as the stores'.
            first_day: blocks of the days before are counted no more.

        Raises:
            DatabaseLostError: nothing was marked, or it is not known; look again.
            GivenUpError: a migration is under way, or it took too long.
        """
        with translating_losses(), self._engine.begin() as connection:
            connection.execute(_SET, {"timeout": f"{self._timeout_seconds:.0f}s"})
            give_way_to_migrations(connection)
            if connection.execute(_BEGIN, {"now": now}).first() is not None:
                begin = datetime.combine(first_day, time.min, tzinfo=UTC)
                mark_stretch(connection, since=begin, until=now + timedelta(days=DAYS_OF_CLOCK_SKEW))
                return Look(marked=0, is_up_to_date=True)
            scanned_until, postgres_now = map(to_utc, connection.execute(_READ).one())
            # no further than Postgres's clock: a monitor whose clock ran ahead would miss what comes
            latest = min(now, postgres_now)
            since = _begin_minute(min(scanned_until, latest) - OVERLAP)
            until = since + OVERLAP + MOST_AT_ONCE
            is_last = until >= latest
            found = self._read(connection, since=since, until=None if is_last else until, first_day=first_day)
            blocks = {minute.block for minute, total in found.items() if self._seen.get(minute) != total}
            mark_blocks(connection, blocks)
            connection.execute(_ADVANCE, {"scanned_until": latest if is_last else until})
        self._seen = found
        return Look(marked=len(blocks), is_up_to_date=is_last)

    def _read(
        self, connection: Connection, *, since: datetime, until: datetime | None, first_day: date
    ) -> dict[_Minute, _Sum]:
        columns: dict[str, Any] = {"since": since, "until": until, "first_day": first_day}
        return {
            _Minute(kind, BlockPlace(app, environment, to_utc(start)), to_utc(minute)): _Sum(rows, stamps)
            for kind, app, environment, start, minute, rows, stamps in connection.execute(_CHANGES, columns)
        }


def _begin_minute(moment: datetime) -> datetime:
    """Minutes are compared whole."""
    return moment.replace(second=0, microsecond=0)
