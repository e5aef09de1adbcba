"""What people watch, read from Postgres: `ports.Watching`."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from ragsonde.storage.history import read_history
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.parking_store import count_parked
from ragsonde.storage.spending import read_spent
from ragsonde.storage.watched_counts import count_window, list_examples
from ragsonde.storage.watched_places import count_waiting, list_activity
from ragsonde.storage.watched_scores import find_lowest, summarise_place
from ragsonde_schemas.watched import AlertEvidence, LedgerSummary, PlaceSummary, Spending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.evaluation import EvaluationState
    from ragsonde_schemas.history import TraceHistory
    from ragsonde_schemas.spending import Limit
    from ragsonde_schemas.watched import Place, PlaceActivity, ScorerSummary, Sign

SPAN = timedelta(hours=24)
TREND_DAYS = 14
LOWEST = 3
EXAMPLES = 10


class PostgresWatching:
    """Reads what the page shows; safe to use from any number of threads.

    Args:
        engine: of this process.
        clock: whose day it is.
        limits: what judges may spend, by name.
        comparable: scorers of which less is worse, by name: only they tell which traces are the worst.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        limits: Mapping[str, Sequence[Limit]],
        comparable: Sequence[str],
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._limits = limits
        self._comparable = comparable

    def now(self) -> datetime:
        """The moment that ages are reckoned from."""
        return self._clock.now()

    def read_ledger(self, app: str | None = None) -> LedgerSummary:
        """Where every trace of the last 24 hours went.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        since = now - SPAN
        judges: dict[str, dict[EvaluationState, int]] = defaultdict(dict)
        for (judge, state), number in count_states(self._engine, since=since, app=app).items():
            judges[judge][state] = number
        return LedgerSummary(
            since=since,
            until=now,
            revisions=count_revisions(self._engine, since=since, app=app),
            judges=dict(judges),
            parked=count_parked(self._engine, since=since),
        )

    def list_places(self) -> tuple[PlaceActivity, ...]:
        """Applications and environments of the last 24 hours, the busiest first.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return list_activity(self._engine, since=self._clock.now() - SPAN)

    def read_place(self, activity: PlaceActivity) -> PlaceSummary:
        """What is known of a place.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now, place = self._clock.now(), activity.place
        since = now - SPAN
        days = [now.date() - timedelta(days=back) for back in reversed(range(TREND_DAYS))]
        scorers = summarise_place(self._engine, place, since=since, days=days)
        return PlaceSummary(
            activity=activity,
            waiting=count_waiting(self._engine, app=place.app),
            scorers=scorers,
            counts=count_window(self._engine, place, since=since, until=now),
            lowest=find_lowest(
                self._engine,
                place,
                since=since,
                judge=_choose_judge(scorers),
                scorers=self._comparable,
                most=LOWEST,
            ),
        )

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        """All that is known of a trace.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return read_history(self._engine, trace_id, app=app)

    def read_alert(self, place: Place, *, sign: Sign) -> AlertEvidence:
        """What lies behind an alert about a place.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        edges = (now, now - timedelta(hours=1), now - timedelta(hours=25), now - timedelta(days=8))
        windows = tuple(
            one
            for until, since in pairwise(edges)
            for one in count_window(self._engine, place, since=since, until=until)
        )
        examples = list_examples(self._engine, place, sign=sign, since=edges[2], most=EXAMPLES)
        return AlertEvidence(place=place, windows=windows, examples=examples)

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


def _choose_judge(scorers: Sequence[ScorerSummary]) -> str:
    """The judge that scored most: it has seen the most traces; '' where there is none."""
    counts: dict[str, int] = defaultdict(int)
    for one in scorers:
        counts[one.judge.partition("@")[0]] += one.n
    return max(sorted(counts), key=lambda name: counts[name], default="")
