"""What people watch, as a test planted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ragsonde_schemas.errors import DatabaseLostError
from ragsonde_schemas.watched import LedgerSummary

NOON = datetime(2026, 10, 7, 12, tzinfo=UTC)


def make_ledger(**changes: object) -> LedgerSummary:
    """Nothing has come, unless `changes` say so."""
    nothing = {"since": NOON - timedelta(days=1), "until": NOON, "revisions": 0, "judges": {}, "parked": {}}
    return LedgerSummary.model_validate({**nothing, **changes})


@dataclass
class FakeWatching:
    """Reads what was planted; away, it reads nothing."""

    ledger: LedgerSummary = field(default_factory=make_ledger)
    is_away: bool = False

    def read_ledger(self) -> LedgerSummary:
        if self.is_away:
            raise DatabaseLostError("Postgres is away")
        return self.ledger
