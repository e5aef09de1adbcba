"""What people watch, as values."""

from __future__ import annotations

from datetime import datetime

from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.value import Value


class LedgerSummary(Value):
    """Where every trace that came since some moment went.

    Attributes:
        revisions: how many were accepted.
        judges: for each judge how many evaluations stand in each state.
        parked: messages that could not be worked on, by reason.
    """

    since: datetime
    until: datetime
    revisions: int
    judges: dict[str, dict[EvaluationState, int]]
    parked: dict[ParkReason, int]
