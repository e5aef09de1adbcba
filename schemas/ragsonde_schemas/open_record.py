"""A trace whose spans are still being gathered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span


class ClosingReason(StrEnum):
    """Why a trace was taken as complete."""

    WHOLE = "whole"
    """One message brought root and retrieval, and no span's parent is missing."""
    END_MARKER = "end_marker"
    QUIET = "quiet"
    """The root was seen and nothing new came for a while."""
    NO_ROOT = "no_root"
    """No root, and nothing new came for a longer while."""
    MAX_WAIT = "max_wait"
    OVER_LIMIT = "over_limit"


class LateEffect(StrEnum):
    """What spans did that came after their trace was closed."""

    REVISION = "revision"
    """What is judged changed: a new revision."""
    UNCHANGED = "unchanged"
    """What is judged is the same."""
    OVER_LIMIT = "over_limit"
    """The trace holds as many spans or bytes, or has as many revisions, as are kept: not used."""
    EXPIRED = "expired"
    """The other spans of their trace had been dropped by retention: not used."""
    FORGOTTEN = "forgotten"
    """Their trace was erased: not kept."""


class FilterCause(StrEnum):
    """Why a trace was not stored."""

    NOT_RAG = "not_rag"
    """No span of it says that anything was retrieved, asked of a model or answered."""
    JUDGE_CALL = "judge_call"
    """It is a call of one of our own judges."""
    FORGOTTEN = "forgotten"
    """It, its user or its session was erased."""


class OpenRecordKey(Value):
    """Names the spans of one trace in the buffer."""

    trace_id: str


class AdmittedRecord(Value):
    """Where a record of the trace was stored first: later revisions stay there, whatever late spans say.

    Attributes:
        turn_key: names the turn it was read from; another one than `record_key` with `per_step` only.
        root_span_id: of the turn when it was named: the turn that holds this span keeps the name.
        span_count: spans of the turn that its newest stored revision was read from.
    """

    record_key: str
    app: str
    occurred_at: datetime
    turn_key: str = ""
    root_span_id: str = ""
    span_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsorbedTrace:
    """What became of the spans of one trace in a delivery.

    Attributes:
        is_due: it can be closed now: `claim` it.
        new_spans: how many were not there before, or changed.
        refused_spans: how many were over the limit and are not kept.
        is_forgotten: the trace was erased: none of them is kept.
    """

    trace_id: str
    is_due: bool
    new_spans: int
    refused_spans: int = 0
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRecord:
    """A trace's spans, in the hands of one worker until its lease ends.

    Attributes:
        format: of the message that brought the first of them.
        version: of the set of spans; counts changes.
        claims: names this claim, which alone may settle it.
        unfinished_claims: claims, this one included, since the trace was last settled.
        closed_before: it had been closed once, so these are late spans.
        fault: why its spans could not be read; '' where they could.
        is_expired: no root is among them and a trace of this id is stored already: retention has dropped the
            other spans, and what these say alone must not become a revision.
        admitted: where its records were stored when it was closed before.
        first_received_at: when the first of its spans came.
    """

    trace_id: str
    format: str
    spans: tuple[Span, ...]
    version: int
    claims: int
    unfinished_claims: int
    reason: ClosingReason
    closed_before: bool
    admitted: tuple[AdmittedRecord, ...]
    first_received_at: datetime
    is_expired: bool = False
    warnings: tuple[str, ...] = ()
    fault: str = ""
