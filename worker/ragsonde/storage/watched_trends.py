"""Daily means of two weeks, by place and stream; days that are over are remembered for a while."""

from __future__ import annotations

import threading
from collections import defaultdict
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.counted_scores import sum_counted
from ragsonde.storage.day_samples import SAMPLED, plan_samples
from ragsonde.storage.score_sums import read_stream
from ragsonde.storage.watched_live import (
    AHEAD,
    LIVE_EVALUATION,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    Stretch,
    fetch,
    reading_days,
)
from ragsonde.storage.watched_scores import SCORE_KEY, STREAM_COLUMNS, STREAM_GROUP
from ragsonde_schemas.watched import TREND_DAYS, DayMean, Place

if TYPE_CHECKING:
    from datetime import date

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.storage.day_samples import DaySample

MOST_BLOCKS = 512
"""Of each day's scores, 4 MB: of more, what is counted is read, which is all of them; where it cannot be, so
many rows are enough for a mean whose error cannot be seen in a line."""
KEPT = timedelta(hours=1)
"""For how long a day that is over is not read again: what was judged late or scored anew shows after it."""
_CHANGING = timedelta(days=2)

_KEY = "trace_id, app, record_key, revision, day"
_DAY = f"""
SELECT t.app, t.environment, {STREAM_COLUMNS}, count(*) AS n, avg(s.raw) AS mean
FROM score p {SAMPLED} JOIN current_score s USING ({SCORE_KEY})
JOIN evaluation e USING ({_KEY}, judge, fingerprint) {OF_BACKFILL} JOIN trace t USING ({_KEY})
WHERE s.day = %(day)s AND s.status = 'scored' AND {OCCURRED} AND {OF_PLACE} AND {LIVE_EVALUATION}
GROUP BY t.app, t.environment, {STREAM_GROUP}
"""  # noqa: S608  # constants

Trends = dict[Place, dict[tuple[Any, ...], list[DayMean]]]


class _Kept(NamedTuple):
    """What was read of a day, and when."""

    read_at: datetime
    rows: list[dict[str, Any]]


class TrendReader:
    """Reads daily means of all places; safe to use from any number of threads.

    Args:
        engine: of this process.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._kept: dict[date, _Kept] = {}

    def read(self, now: datetime) -> Trends:
        """For each place and stream the means of its days with a score, oldest first.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        days = [now.date() - timedelta(days=back) for back in reversed(range(TREND_DAYS))]
        trends: Trends = defaultdict(lambda: defaultdict(list))
        with self._lock:
            self._refresh(days, now=now)
            for day in days:
                for row in self._kept[day].rows if day in self._kept else ():
                    place = Place(app=row["app"], environment=row["environment"])
                    mean = DayMean(day=day, n=row["n"], mean=row["mean"])
                    trends[place][read_stream(row)].append(mean)
        return trends

    def _refresh(self, days: list[date], *, now: datetime) -> None:
        needed = [day for day in days if not self._is_kept(day, now=now)]
        with reading_days(self._engine) as connection:
            samples = plan_samples(connection, "score", needed, most_blocks=MOST_BLOCKS)
            for sample in samples:
                if sample.share >= 1:
                    self._kept[sample.day] = _Kept(now, _read_day(connection, sample, now=now))
        for sample in samples:
            if sample.share < 1:
                self._kept[sample.day] = _Kept(now, self._count_day(sample, now=now))
        self._kept = {day: kept for day, kept in self._kept.items() if day in days}

    def _count_day(self, sample: DaySample, *, now: datetime) -> list[dict[str, Any]]:
        """Of all scores where they are counted, else of a part of them."""
        begin = datetime.combine(sample.day, time.min, tzinfo=UTC)
        day = Stretch(begin, begin + timedelta(days=1))
        counted = sum_counted(self._engine, day, now=now, has_bins=False)
        if counted is not None:
            return counted.list_rows()
        with reading_days(self._engine) as connection:
            return _read_day(connection, sample, now=now)

    def _is_kept(self, day: date, *, now: datetime) -> bool:
        kept = self._kept.get(day)
        return kept is not None and now.date() - day >= _CHANGING and now - kept.read_at < KEPT


def _read_day(connection: Connection[TupleRow], sample: DaySample, *, now: datetime) -> list[dict[str, Any]]:
    bound = {
        "day": sample.day,
        "percent": sample.percent,
        "since": now - timedelta(days=TREND_DAYS + 1),
        "until": now + AHEAD,
        "app": None,
        "environment": None,
    }
    return fetch(connection, _DAY, bound)
