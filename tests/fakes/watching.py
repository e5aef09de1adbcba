"""What people watch, as a test planted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ragsonde_schemas.errors import DatabaseLostError, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.history import TraceHistory
from ragsonde_schemas.label_names import NO_NAMES, LabelNames
from ragsonde_schemas.score_stream import ScoreStream as FullStream
from ragsonde_schemas.watched import (
    DayMean,
    JudgeCounts,
    LowTrace,
    Overview,
    Place,
    PlaceActivity,
    PlaceSummary,
    ScorerSummary,
    ScoreStream,
    Spending,
)
from ragsonde_schemas.watched_alert import AlertEvidence, JudgeStanding, WindowCounts
from ragsonde_schemas.watched_fall import (
    Fall,
    FallDetail,
    FallFilter,
    FallList,
    FallState,
    FallWatch,
    MeanPoint,
    StreamWatch,
)
from ragsonde_schemas.watched_list import ListedTrace, Sign, TraceFilter, TracePage

if TYPE_CHECKING:
    from threading import Event

NOON = datetime(2026, 10, 7, 12, tzinfo=UTC)
SHOP = Place(app="shop", environment="production")


def make_activity(app: str = "shop", environment: str = "production", **changes: Any) -> PlaceActivity:  # noqa: ANN401
    """A place with 40 traces, the last of them 12 s ago."""
    values = {"traces": 40, "last_at": NOON - timedelta(seconds=12)}
    return PlaceActivity(place=Place(app=app, environment=environment), **values | changes)


def make_summary(**changes: Any) -> ScorerSummary:  # noqa: ANN401
    """Position scored by the lexical judge: 36 scores of mean .6 and deviation .3."""
    stream = {"judge": "lexical", "fingerprint": "f" * 16, "epoch": 1, "scorer": "context_position"}
    values = {
        "stream": ScoreStream(**stream, version="1"),
        "judge": "lexical",
        "scorer": "context_position",
        "n": 36,
        "mean": 0.6,
        "deviation": 0.3,
        "below": None,
        "unscored": {},
        "bins": (6, 0, 0, 0, 6, 0, 12, 0, 0, 12),
        "days": (
            DayMean(day=date(2026, 10, 6), n=20, mean=0.8),
            DayMean(day=date(2026, 10, 7), n=16, mean=0.6),
        ),
    }
    return ScorerSummary.model_validate(values | changes)


def make_counts(judge: str = "lexical", **changes: Any) -> JudgeCounts:  # noqa: ANN401
    """A judge that scored 38 of 40."""
    states = {EvaluationState.SCORED: 38, EvaluationState.FAILED: 2}
    return JudgeCounts.model_validate({"judge": judge, "states": states} | changes)


def make_place(activity: PlaceActivity | None = None, **changes: Any) -> PlaceSummary:  # noqa: ANN401
    """A place with one scorer."""
    values = {"judges": (make_counts(),), "scorers": (make_summary(),)}
    return PlaceSummary(activity=activity or make_activity(), **values | changes)


def make_overview(*places: PlaceSummary, **changes: Any) -> Overview:  # noqa: ANN401
    """These places, read at noon."""
    return Overview.model_validate({"read_at": NOON, "places": places, "parked": {}} | changes)


def make_window(hours_ago: int = 0, *, hours: int = 1, share: float = 1.0, **changes: Any) -> WindowCounts:  # noqa: ANN401
    """What the lexical judge made of 200 traces, the newest of them so long ago."""
    until = NOON - timedelta(hours=hours_ago)
    counts = make_counts(**{"states": {EvaluationState.SCORED: 200}} | changes)
    return WindowCounts(since=until - timedelta(hours=hours), until=until, counts=counts, share=share)


def make_listed(trace_id: str = "t-1", **changes: Any) -> ListedTrace:  # noqa: ANN401
    """A trace of the shop that occurred at noon."""
    values = {"app": "shop", "environment": "production", "record_key": "", "release": "2.4.0"}
    return ListedTrace(trace_id=trace_id, **values | {"occurred_at": NOON} | changes)


def make_watched(scorer: str = "context_position", **changes: Any) -> StreamWatch:  # noqa: ANN401
    """A steady stream of the shop, as the lexical judge scores it, whose baseline would show .04."""
    values = {"version": "1", "judge": "lexical", "fingerprint": "f" * 16, "judge_epoch": 1}
    names = {name: changes.pop(name) for name in tuple(changes) if name in {*values, "app", "environment"}}
    stream = FullStream(scorer=scorer, **{**values, "app": "shop", "environment": "production", **names})
    return StreamWatch.model_validate(
        {"stream": stream, "state": "steady", "smallest_drop": 0.04, "baseline_kind": "pinned"} | changes
    )


def make_fall(number: int = 7, **changes: Any) -> Fall:  # noqa: ANN401
    """Weighted relevance fell by .12 two hours before noon; a warning at 10:30, a page at 11:00."""
    explanation = {
        "drop": 0.12,
        "drop_lower": 0.08,
        "drop_upper": 0.16,
        "mix_shift": 0.01,
        "baseline_mean": 0.82,
        "baseline_kind": "pinned",
        "mean": 0.7,
        "n": 412,
        "evidence_days": 4581.2,
        "overdispersion": 1.8,
        "worst_strata": [{"stratum": "contexts:4-6", "drop": 0.2, "n": 120}],
        "traces": [{"trace_id": "t-9", "raw": 0.05, "occurred_at": "2026-10-07T10:41:00Z"}],
        "changes": [{"kind": "release", "name": "2.5.0", "at": "2026-10-07T09:40:00Z"}],
    }
    values = {
        "stream": make_watched("context_relevance").stream,
        "kind": "page",
        "since": NOON - timedelta(hours=2),
        "opened_at": NOON - timedelta(minutes=90),
        "paged_at": NOON - timedelta(minutes=60),
        "told_at": NOON - timedelta(minutes=89),
        "explanation": explanation | changes.pop("explanation", {}),
    }
    return Fall.model_validate({"number": number} | values | changes)


def make_points(*means: float | None, until: datetime = NOON) -> tuple[MeanPoint, ...]:
    """Hourly means up to a moment; None is an hour without a score."""
    first = until - timedelta(hours=len(means))
    return tuple(
        MeanPoint(start=first + timedelta(hours=hour), n=60, mean=mean)
        for hour, mean in enumerate(means)
        if mean is not None
    )


@dataclass
class FakeWatching:
    """Reads what was planted; away, it reads nothing, and it waits at a gate that is shut.

    `wanted`: what lists were asked for.
    """

    places: list[PlaceSummary] = field(default_factory=list)
    parked: dict[ParkReason, int] = field(default_factory=dict)
    brought: int = 0
    lowest: tuple[LowTrace, ...] = ()
    listed: tuple[ListedTrace, ...] = ()
    has_more: bool = False
    spending: tuple[Spending, ...] | None = ()
    evidence: AlertEvidence | None = None
    histories: dict[str, TraceHistory] = field(default_factory=dict)
    names: LabelNames = NO_NAMES
    standings: tuple[JudgeStanding, ...] = ()
    fall_watch: FallWatch = field(default_factory=FallWatch)
    falls: FallList = field(default_factory=FallList)
    fall_details: dict[int, FallDetail] = field(default_factory=dict)
    falls_wanted: list[FallFilter] = field(default_factory=list)
    is_away: bool = False
    refuses_all: bool = False
    error: Exception | None = None
    gate: Event | None = None
    wanted: list[TraceFilter] = field(default_factory=list)
    asked: list[tuple[Place | None, Sign]] = field(default_factory=list)

    def now(self) -> datetime:
        return NOON

    def read_overview(self) -> Overview:
        self._require_presence()
        return make_overview(*self.places, parked=self.parked, brought=self.brought)

    def list_lowest(self, place: Place, *, judge: str) -> tuple[LowTrace, ...]:  # noqa: ARG002 - as the port says
        return self.lowest

    def list_traces(self, wanted: TraceFilter) -> TracePage:
        self._require_presence()
        self.wanted.append(wanted)
        return TracePage(traces=self.listed, until=NOON, has_more=self.has_more)

    def read_alert(self, place: Place | None, *, sign: Sign) -> AlertEvidence:
        self._require_presence()
        self.asked.append((place, sign))
        return self.evidence or AlertEvidence(place=place, windows=(), examples=())

    def list_spending(self) -> tuple[Spending, ...]:
        assert self.spending is not None
        return self.spending

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        self._require_presence()
        found = self.histories.get(trace_id) or TraceHistory(trace_id=trace_id, revisions=(), parked=())
        of_app = tuple(one for one in found.revisions if app is None or one.key.app == app)
        return found.model_copy(update={"revisions": of_app})

    def list_standings(self) -> tuple[JudgeStanding, ...]:
        return self.standings

    def read_names(self) -> LabelNames:
        return self.names

    def read_fall_watch(self) -> FallWatch:
        return self.fall_watch

    def list_falls(self, wanted: FallFilter) -> FallList:
        self._require_presence()
        self.falls_wanted.append(wanted)
        if wanted.state is not FallState.OPEN:
            return self.falls
        return self.falls.model_copy(update={"falls": tuple(one for one in self.falls.falls if one.is_open)})

    def read_fall(self, number: int) -> FallDetail | None:
        self._require_presence()
        return self.fall_details.get(number)

    def _require_presence(self) -> None:
        assert not self.refuses_all, "nothing should be read"
        if self.gate is not None:
            self.gate.wait(30)
        if self.error is not None:
            raise self.error
        if self.is_away:
            raise DatabaseLostError("Postgres is away")
