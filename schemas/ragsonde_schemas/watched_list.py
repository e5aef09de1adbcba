"""Which traces a list shows, as values."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.value import Value
from ragsonde_schemas.watched import BINS

PAGE_TRACES = 50
MOST_PAGES = 20


class Sign(StrEnum):
    """What the example traces of an alert show."""

    EMPTY_RETRIEVAL = "empty_retrieval"
    NO_CONTEXT = "no_context"
    INSUFFICIENT = "insufficient"
    FAILED = "failed"
    LEFT_OUT = "left_out"
    """without a number that a judge should give: failed, shed, or still waiting"""
    NONE = "none"
    """traces cannot show it"""


class TraceFilter(Value):
    """Which live traces are listed; what is None chooses nothing.

    Attributes:
        day: one of UTC; None: the last 24 hours.
        fingerprint, epoch, version: of the scorer's stream; only with a scorer.
        is_scored: with a number, or without one; only with a scorer.
        bin: the tenth in which the raw score lies, from 0; only with a scorer.
        is_below: that did not pass the threshold; only with a scorer.
        page: from 1.
        until: what is stored later is left out, so that pages do not shift.
    """

    app: str | None = None
    environment: str | None = None
    judge: str | None = None
    day: date | None = None
    state: EvaluationState | None = None
    cause: Cause | None = None
    sign: Sign = Sign.NONE
    scorer: str | None = None
    version: str | None = None
    fingerprint: str | None = None
    epoch: int | None = Field(default=None, ge=1, le=1_000_000)
    is_scored: bool | None = None
    bin: int | None = Field(default=None, ge=0, lt=BINS)
    is_below: bool = False
    page: int = Field(default=1, ge=1, le=MOST_PAGES)
    until: datetime | None = None


class ListedTrace(Value):
    """A trace of a list.

    Attributes:
        record_key: '' for a whole message.
        judge, state, cause: of the evaluation for which it is listed; None where it is for none.
        raw: the score for which it is.
        reason: of that outcome, in words.
    """

    trace_id: str
    app: str
    environment: str
    record_key: str
    release: str
    occurred_at: datetime
    judge: str | None = None
    state: EvaluationState | None = None
    cause: Cause | None = None
    raw: float | None = None
    reason: str = ""


class TracePage(Value):
    """A part of a list.

    Attributes:
        until: what the following pages are asked for with.
        has_more: True where there is a following page.
    """

    traces: tuple[ListedTrace, ...]
    until: datetime
    has_more: bool
