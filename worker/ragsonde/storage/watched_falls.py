"""Falls that were told, as the page reads them: a list, and one with the scores around its beginning."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.regression.threshold import ACTIVE_DAYS, PAGE_DAYS, find_page_threshold
from ragsonde.storage.alert_steering import count_pages
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.fall_spreads import read_spreads
from ragsonde.storage.shown_regressions import count_active
from ragsonde.storage.told_alerts import find_alert, list_alerts
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.watched_fall import FallDetail, FallFilter, FallList, MeanPoint

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

MOST_FALLS = 100
YEAR = timedelta(days=365)
BEFORE = timedelta(days=2)
"""Of a fall, shown to compare with."""
MOST_SHOWN = timedelta(days=28)
_HOUR = 3_600
_STEPS = ((timedelta(days=4), _HOUR), (timedelta(days=10), 4 * _HOUR), (MOST_SHOWN, 24 * _HOUR))
"""Up to which stretch means are of how many seconds: a line of at most 100 points."""

# the stream of an alert: its number is not told to people
_MEANS = text(
    """
SELECT date_bin(make_interval(secs => :step), b.start, timestamptz '1970-01-01 00:00+00') AS start,
    sum(b.n)::bigint AS n, sum(b.total) / sum(b.n) AS mean
FROM alert a JOIN score_block b ON b.stream_id = a.stream_id
WHERE a.id = :number AND b.start >= :since AND b.start < :until AND b.day BETWEEN :first_day AND :last_day
GROUP BY 1 HAVING sum(b.n) > 0 ORDER BY 1
"""
)


def list_falls(
    engine: Engine,
    wanted: FallFilter,
    *,
    now: datetime,
    most: int = MOST_FALLS,
    page_days: float = PAGE_DAYS,
) -> FallList:
    """The falls that a filter lets through, and how many pages there were in the last year.

    Args:
        engine: of this process.
        wanted: the filter.
        now: where the year ends.
        most: at most so many.
        page_days: chance alone pages once in so many days at most, all streams together.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    app, environment = wanted.app, wanted.environment
    told = list_alerts(engine, app=app, environment=environment, state=wanted.state, most=most + 1)
    counts = count_pages(engine, app=app, environment=environment, since=now - YEAR)
    return FallList(
        falls=told[:most],
        has_more=len(told) > most,
        pages=counts.pages,
        false_pages=counts.called_false,
        page_days=page_days,
    )


def read_fall(
    engine: Engine, number: int, *, now: datetime, page_days: float = PAGE_DAYS
) -> FallDetail | None:
    """A fall with means from two days before it began, and scores before and since; None where there is none.

    Args:
        engine: of this process.
        number: of the fall.
        now: where the means end, of a fall that is open.
        page_days: evidence that a page needs for each stream with traces.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    told = find_alert(engine, number)
    if told is None:
        return None
    since = told.since - BEFORE
    until = min(now if told.closed_at is None else told.closed_at + BEFORE, now, since + MOST_SHOWN)
    step = next((step for span, step in _STEPS if until - since <= span), _STEPS[-1][1])
    columns = {
        "number": number,
        "step": step,
        "since": since,
        "until": until,
        "first_day": since.date(),
        "last_day": until.date(),
    }
    with translating_losses(), engine.connect() as connection:
        points = tuple(
            MeanPoint(start=to_utc(row.start), n=row.n, mean=row.mean)
            for row in connection.execute(_MEANS, columns)
        )
        ended = min(now if told.closed_at is None else told.closed_at, told.since + MOST_SHOWN)
        before, after = read_spreads(connection, number, since=told.since, until=ended)
    active = count_active(engine, now.date(), days=ACTIVE_DAYS)
    return FallDetail(
        fall=told,
        step_seconds=step,
        points=points,
        threshold_days=find_page_threshold(active, page_days=page_days),
        before=before,
        after=after,
    )
