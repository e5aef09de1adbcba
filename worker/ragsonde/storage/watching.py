"""What people watch, read from Postgres: `ports.Watching`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from ragsonde.regression.threshold import PAGE_DAYS
from ragsonde.storage.history import read_history
from ragsonde.storage.label_budget import gather_names, read_named
from ragsonde.storage.parking_store import count_parked
from ragsonde.storage.span_scores import summarise_span
from ragsonde.storage.spending import read_spent
from ragsonde.storage.watched_changes import find_changes
from ragsonde.storage.watched_counts import count_brought, count_places, count_window
from ragsonde.storage.watched_falls import list_falls, read_fall
from ragsonde.storage.watched_judges import list_standings
from ragsonde.storage.watched_lists import list_traces
from ragsonde.storage.watched_live import Stretch, look_back
from ragsonde.storage.watched_lowest import find_lowest
from ragsonde.storage.watched_scores import add_days, summarise_short
from ragsonde.storage.watched_streams import read_fall_watch
from ragsonde.storage.watched_trends import TrendReader
from ragsonde_schemas.watched import Overview, PlaceSummary, Spending
from ragsonde_schemas.watched_alert import AlertEvidence
from ragsonde_schemas.watched_list import Sign, TraceFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.history import TraceHistory
    from ragsonde_schemas.label_names import LabelNames
    from ragsonde_schemas.spending import Limit
    from ragsonde_schemas.watched import LowTrace, Place, ScorerSummary
    from ragsonde_schemas.watched_alert import JudgeStanding, WindowCounts
    from ragsonde_schemas.watched_fall import FallDetail, FallFilter, FallList, FallWatch
    from ragsonde_schemas.watched_list import ListedTrace, TracePage

SPAN = timedelta(hours=24)
HOUR = timedelta(hours=1)
WEEK = timedelta(days=8)
LOWEST = 5
EXAMPLES = 10
PARTS_AT_ONCE = 3
"""Of alerts' views that are read beside each other."""
ALERT_TRACES = 1_000
"""Of the last hour: enough to compare two distributions by eye."""


class PostgresWatching:
    """Reads what the page shows; safe to use from any number of threads.

    Args:
        engine: of this process.
        clock: whose day it is.
        limits: what judges may spend, by name.
        comparable: scorers of which less is worse, by name: only they tell which traces are the worst.
        page_days: evidence that a page needs for each stream with traces.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        limits: Mapping[str, Sequence[Limit]],
        comparable: Sequence[str],
        page_days: float = PAGE_DAYS,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._limits = limits
        self._comparable = comparable
        self._page_days = page_days
        self._trends = TrendReader(engine)
        # few: each takes a connection of the engine, which others use, too
        self._pool = ThreadPoolExecutor(PARTS_AT_ONCE, thread_name_prefix="page-part")

    def now(self) -> datetime:
        """The moment that ages are reckoned from."""
        return self._clock.now()

    def read_overview(self) -> Overview:
        """What is known of every place with live traces in the last 24 hours, the busiest first.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        stretch = look_back(now, SPAN)
        places = count_places(self._engine, stretch)
        scorers = summarise_span(self._engine, stretch, now=now) if places else {}
        trends = self._trends.read(now) if places else {}
        return Overview(
            read_at=now,
            places=tuple(
                PlaceSummary(
                    activity=one.activity,
                    judges=one.judges,
                    scorers=add_days(scorers.get(one.activity.place, ()), trends.get(one.activity.place, {})),
                )
                for one in places
            ),
            parked=count_parked(self._engine, since=stretch.since),
            brought=count_brought(self._engine, stretch),
        )

    def list_lowest(self, place: Place, *, judge: str) -> tuple[LowTrace, ...]:
        """A place's five worst traces of the last 24 hours by a judge's scores, the worst first.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        stretch = look_back(self._clock.now(), SPAN)
        return find_lowest(self._engine, place, stretch, judge=judge, scorers=self._comparable, most=LOWEST)

    def list_traces(self, wanted: TraceFilter) -> TracePage:
        """Live traces that a filter lets through, the newest first.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return list_traces(self._engine, wanted, now=self._clock.now())

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        """All that is known of a trace.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return read_history(self._engine, trace_id, app=app)

    def read_alert(self, place: Place | None, *, sign: Sign) -> AlertEvidence:
        """What lies behind an alert about a place or about all.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        hour = self._pool.submit(self._read_hour, place, now=now)
        week = self._pool.submit(self._count_week, place, now=now)
        changes = self._pool.submit(find_changes, self._engine, place, now=now)
        examples = self._list_examples(place, sign=sign)
        of_hour, scorers = hour.result()
        return AlertEvidence(
            place=place,
            windows=of_hour + week.result(),
            examples=examples,
            scorers=scorers,
            changes=changes.result(),
        )

    def list_spending(self) -> tuple[Spending, ...]:
        """What judges with a budget have spent in their present periods.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        return tuple(
            Spending(
                judge=judge, limit=limit, spent=read_spent(self._engine, judge, period=limit.period, now=now)
            )
            for judge, limits in self._limits.items()
            for limit in limits
        )

    def list_standings(self) -> tuple[JudgeStanding, ...]:
        """Judges that are paused or waited for.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return list_standings(self._engine)

    def read_names(self) -> LabelNames:
        """Which apps and environments have series of their own.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return gather_names(read_named(self._engine))

    def read_fall_watch(self) -> FallWatch:
        """How it stands with each stream of scores that is watched for falls.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return read_fall_watch(self._engine, now=self._clock.now())

    def list_falls(self, wanted: FallFilter) -> FallList:
        """Falls that a filter lets through, the open ones first, then the newest.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return list_falls(self._engine, wanted, now=self._clock.now(), page_days=self._page_days)

    def read_fall(self, number: int) -> FallDetail | None:
        """A fall with the means around its beginning; None where there is none of that number.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return read_fall(self._engine, number, now=self._clock.now(), page_days=self._page_days)

    def _read_hour(
        self, place: Place | None, *, now: datetime
    ) -> tuple[tuple[WindowCounts, ...], tuple[ScorerSummary, ...]]:
        stretch = look_back(now, HOUR)
        windows = count_window(self._engine, place, stretch, until=now, is_short=True)
        if place is None:
            return windows, ()
        traces = max((one.counts.looked_at for one in windows), default=0)
        return windows, summarise_short(self._engine, stretch, place, traces=traces, most_traces=ALERT_TRACES)

    def _count_week(self, place: Place | None, *, now: datetime) -> tuple[WindowCounts, ...]:
        """The day before the last hour, and what is left of the seven days before."""
        edges = (now - HOUR, now - HOUR - SPAN, now - WEEK)
        return tuple(
            one
            for until, since in pairwise(edges)
            for one in count_window(self._engine, place, Stretch(since, until), until=until, is_short=False)
        )

    def _list_examples(self, place: Place | None, *, sign: Sign) -> tuple[ListedTrace, ...]:
        """Each trace once, though several judges may show it."""
        if sign is Sign.NONE:
            return ()
        named = {} if place is None else place.model_dump()
        shown = self.list_traces(TraceFilter(sign=sign, **named)).traces
        unique: dict[tuple[str, str, str], ListedTrace] = {}
        for one in shown:
            unique.setdefault((one.app, one.trace_id, one.record_key), one)
        return tuple(unique.values())[:EXAMPLES]
