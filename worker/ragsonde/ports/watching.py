"""What is read for people who watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.history import TraceHistory
    from ragsonde_schemas.label_names import LabelNames
    from ragsonde_schemas.watched import LowTrace, Overview, Place, Spending
    from ragsonde_schemas.watched_alert import AlertEvidence, JudgeStanding
    from ragsonde_schemas.watched_fall import FallDetail, FallFilter, FallList, FallWatch
    from ragsonde_schemas.watched_list import Sign, TraceFilter, TracePage


class Watching(Protocol):
    """Reads what the page shows. Every method raises DatabaseLostError while Postgres is away."""

    def now(self) -> datetime:
        """The moment that ages are reckoned from."""
        ...

    def read_overview(self) -> Overview:
        """What is known of every place with live traces in the last 24 hours, the busiest first."""
        ...

    def list_lowest(self, place: Place, *, judge: str) -> tuple[LowTrace, ...]:
        """A place's five worst traces of the last 24 hours by a judge's scores, the worst first."""
        ...

    def list_traces(self, wanted: TraceFilter) -> TracePage:
        """Live traces that a filter lets through, the newest first."""
        ...

    def read_alert(self, place: Place | None, *, sign: Sign) -> AlertEvidence:
        """What lies behind an alert about a place or about all, with traces that show it."""
        ...

    def list_spending(self) -> tuple[Spending, ...]:
        """What judges with a budget have spent in their present periods."""
        ...

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        """All that is known of a trace; without revisions and parked messages where nothing is."""
        ...

    def list_standings(self) -> tuple[JudgeStanding, ...]:
        """Judges that are paused or waited for."""
        ...

    def read_names(self) -> LabelNames:
        """Which apps and environments have series of their own: the others are `other` there."""
        ...

    def read_fall_watch(self) -> FallWatch:
        """How it stands with each stream of scores that is watched for falls."""
        ...

    def list_falls(self, wanted: FallFilter) -> FallList:
        """Falls that a filter lets through, the open ones first, then the newest."""
        ...

    def read_fall(self, number: int) -> FallDetail | None:
        """A fall with the means around its beginning; None where there is none of that number."""
        ...
