"""What is read for people who watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ragsonde_schemas.watched import LedgerSummary


class Watching(Protocol):
    """Reads what the page shows."""

    def read_ledger(self) -> LedgerSummary:
        """Where every trace of the last 24 hours went.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...
