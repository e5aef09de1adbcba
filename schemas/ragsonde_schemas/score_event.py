"""A committed outcome as it leaves ragsonde: for score sinks."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.value import Value


class ScoreEvent(Value):
    """One scorer's outcome for one revision of a record under one judge.

    Attributes:
        result_id: 32 hex digits; the same when it is sent again.
        span_id: of the record's root, where it came in spans and is known.
        response_id: the provider's name of the application's answer (`gen_ai.response.id`), where it is told.
        fingerprint: of what answered: the judge's own, or a fallback's.
        judge_epoch: counts the models that have answered under that fingerprint.
        raw: in 0..1; None where there is no number.
        value: on the scorer's scale.
        passed: None where the scorer has no threshold.
        cause: why there is no number.
        link: to the trace, where a template for it is configured.
    """

    result_id: str
    app: str
    environment: str
    release: str
    variant: str
    trace_id: str
    record_key: str
    revision: int
    span_id: str | None = None
    response_id: str | None = None
    occurred_at: datetime
    scored_at: datetime
    judge: str
    fingerprint: str
    judge_epoch: int
    answered_model: str | None = None
    scorer: str
    version: str
    status: Literal["scored", "skipped", "error"]
    raw: float | None = Field(default=None, ge=0, le=1)
    value: float | None = None
    band: str | None = None
    passed: bool | None = None
    cause: Cause | None = None
    reason: str
    link: str | None = None
