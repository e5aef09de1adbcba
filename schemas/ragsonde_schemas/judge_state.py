"""What all workers know of a judge."""

from __future__ import annotations

from datetime import datetime

from ragsonde_schemas.value import Value


class JudgeState(Value):
    """Where a judge stands.

    Attributes:
        epoch: counts the models that have answered under one fingerprint, from 1.
        answered_model: the model of this epoch; None before one has answered.
        paused_until: it is not asked before, but for one probe; None = not paused.
        pause_message: what the provider refused, and what to do about it.
    """

    judge: str
    fingerprint: str
    epoch: int = 1
    answered_model: str | None = None
    paused_until: datetime | None = None
    pause_message: str | None = None
