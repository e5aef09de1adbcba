"""What is read for people who watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.history import TraceHistory
    from ragsonde_schemas.watched import (
        AlertEvidence,
        LedgerSummary,
        Place,
        PlaceActivity,
        PlaceSummary,
        Sign,
        Spending,
    )


class Watching(Protocol):
    """Reads what the page shows. Every method raises DatabaseLostError while Postgres is away."""

    def now(self) -> datetime:
        """The moment that ages are reckoned from."""
        ...

    def list_places(self) -> tuple[PlaceActivity, ...]:
        """Applications and environments of the last 24 hours, the busiest first."""
        ...

    def read_place(self, activity: PlaceActivity) -> PlaceSummary:
        """What is known of one of them."""
        ...

    def read_ledger(self, app: str | None = None) -> LedgerSummary:
        """Where every trace of the last 24 hours went; of one app, or of all."""
        ...

    def read_alert(self, place: Place, *, sign: Sign) -> AlertEvidence:
        """What lies behind an alert about a place, with traces that show it."""
        ...

    def list_spending(self) -> tuple[Spending, ...]:
        """What judges with a budget have spent in their present periods."""
        ...

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        """All that is known of a trace; without revisions and parked messages where nothing is."""
        ...
