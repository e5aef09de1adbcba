"""What people watch, read from Postgres: `ports.Watching`."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.parking_store import count_parked
from ragsonde_schemas.watched import LedgerSummary

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.evaluation import EvaluationState

SPAN = timedelta(hours=24)


class PostgresWatching:
    """Reads what the page shows; safe to use from any number of threads."""

    def __init__(self, engine: Engine, *, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def read_ledger(self) -> LedgerSummary:
        """Where every trace of the last 24 hours went.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        since = now - SPAN
        judges: dict[str, dict[EvaluationState, int]] = defaultdict(dict)
        for (judge, state), number in count_states(self._engine, since=since).items():
            judges[judge][state] = number
        return LedgerSummary(
            since=since,
            until=now,
            revisions=count_revisions(self._engine, since=since),
            judges=dict(judges),
            parked=count_parked(self._engine, since=since),
        )
