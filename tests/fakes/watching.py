"""What people watch, as a test planted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ragsonde_schemas.errors import DatabaseLostError
from ragsonde_schemas.history import TraceHistory
from ragsonde_schemas.watched import (
    AlertEvidence,
    DayMean,
    LedgerSummary,
    Place,
    PlaceActivity,
    PlaceSummary,
    ScorerSummary,
    Sign,
    Spending,
    WindowCounts,
)

NOON = datetime(2026, 10, 7, 12, tzinfo=UTC)


def make_ledger(**changes: object) -> LedgerSummary:
    """Nothing has come, unless `changes` say so."""
    nothing = {"since": NOON - timedelta(days=1), "until": NOON, "revisions": 0, "judges": {}, "parked": {}}
    return LedgerSummary.model_validate({**nothing, **changes})


def make_activity(app: str = "shop", environment: str = "production", **changes: Any) -> PlaceActivity:  # noqa: ANN401
    """A place with 40 revisions, the last of them 12 s ago."""
    values = {"revisions": 40, "last_admitted_at": NOON - timedelta(seconds=12)}
    return PlaceActivity(place=Place(app=app, environment=environment), **values | changes)


def make_summary(**changes: Any) -> ScorerSummary:  # noqa: ANN401
    """Position scored by the lexical judge: 36 scores of mean .6 and deviation .3."""
    values = {
        "instance": "context_position",
        "judge": "lexical",
        "scorer": "context_position",
        "n": 36,
        "mean": 0.6,
        "deviation": 0.3,
        "below": None,
        "unscored": {},
        "days": (
            DayMean(day=date(2026, 10, 6), n=20, mean=0.8),
            DayMean(day=date(2026, 10, 7), n=16, mean=0.6),
        ),
    }
    return ScorerSummary.model_validate(values | changes)


def make_place(activity: PlaceActivity | None = None, **changes: Any) -> PlaceSummary:  # noqa: ANN401
    """A place with one scorer."""
    values = {"waiting": 0, "scorers": (make_summary(),), "counts": (), "lowest": ()}
    return PlaceSummary(activity=activity or make_activity(), **values | changes)


def make_window(hours_ago: int = 0, *, hours: int = 1, **changes: Any) -> WindowCounts:  # noqa: ANN401
    """What the lexical judge made of 200 traces, the newest of them so long ago."""
    until = NOON - timedelta(hours=hours_ago)
    values = {"since": until - timedelta(hours=hours), "until": until, "judge": "lexical", "evaluations": 200}
    return WindowCounts.model_validate(values | changes)


@dataclass
class FakeWatching:
    """Reads what was planted; away, it reads nothing."""

    places: list[PlaceSummary] = field(default_factory=list)
    ledger: LedgerSummary | None = field(default_factory=make_ledger)
    spending: tuple[Spending, ...] = ()
    evidence: AlertEvidence | None = None
    histories: dict[str, TraceHistory] = field(default_factory=dict)
    is_away: bool = False

    def now(self) -> datetime:
        return NOON

    def list_places(self) -> tuple[PlaceActivity, ...]:
        self._require_presence()
        return tuple(one.activity for one in self.places)

    def read_place(self, activity: PlaceActivity) -> PlaceSummary:
        return next(one for one in self.places if one.activity.place == activity.place)

    def read_ledger(self, app: str | None = None) -> LedgerSummary:  # noqa: ARG002 - as the port says
        self._require_presence()
        assert self.ledger is not None
        return self.ledger

    def read_alert(self, place: Place, *, sign: Sign) -> AlertEvidence:  # noqa: ARG002 - as the port says
        self._require_presence()
        return self.evidence or AlertEvidence(place=place, windows=(), examples=())

    def list_spending(self) -> tuple[Spending, ...]:
        return self.spending

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:  # noqa: ARG002 - as the port says
        self._require_presence()
        found = self.histories.get(trace_id)
        return found or TraceHistory(trace_id=trace_id, revisions=(), parked=())

    def _require_presence(self) -> None:
        if self.is_away:
            raise DatabaseLostError("Postgres is away")
