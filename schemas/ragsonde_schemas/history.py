"""All that is known of a trace, as values: for those who ask what became of it."""

from __future__ import annotations

from datetime import datetime

from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationKey, EvaluationState
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.score import Outcome
from ragsonde_schemas.trace import Trace, TraceKey
from ragsonde_schemas.value import Value

ERASED = "it names what was erased by `ragsonde forget`: nothing of it is kept"
"""What a parked message says of which nothing may be kept."""


class ParkedMessage(Value):
    """A parked message without its body.

    Attributes:
        id: its number in the parking.
        where: path inside the message, or `body`.
        body_bytes: the size of the body as it was delivered.
        kept_bytes: how much of it is kept.
        replays: how often it was published again.
        replayed_at: when it last was; None where it was parked for the same reason again since.
        dropped_at: when somebody decided that it is not worth that.
    """

    id: int
    message_key: str
    reason: ParkReason
    where: str
    message: str
    queue: str
    message_id: str | None
    content_type: str | None
    received_at: datetime
    parked_at: datetime
    body_bytes: int
    kept_bytes: int
    replays: int = 0
    replayed_at: datetime | None = None
    dropped_at: datetime | None = None

    @property
    def is_replayable(self) -> bool:
        """True when the whole body is kept."""
        return self.kept_bytes == self.body_bytes

    @property
    def is_erased(self) -> bool:
        """True when it came after those whom it names were erased."""
        return self.message == ERASED


class GatheredSpans(Value):
    """The spans of one trace in the buffer.

    Attributes:
        next_close_at: when they are evaluated unless more come; None when that has been done.
        reason: why they are, or were, taken as complete.
        is_stored: they became at least one record; else none of them told of a RAG application.
    """

    format: str
    span_count: int
    has_root: bool
    first_received_at: datetime
    last_received_at: datetime
    next_close_at: datetime | None
    reason: ClosingReason
    is_stored: bool


class EvaluationHistory(Value):
    """One evaluation as it stands.

    Attributes:
        attempts: failures that were the trace's own.
        starts: how often a worker took it up.
        unfinished_starts: of these, since a run last ended in a transaction.
        next_attempt_at: when it is due, where it waits.
        lease_until: until when it is somebody's, where it runs.
        reopened_at: when it was begun anew, by a person or a backfill; None where it never was.
        calls: of all its runs; None where it had none.
        tokens_in, tokens_out, cost_usd: of those that were answered; None = not known.
        replies: the calls of all its runs, oldest first, as far as they are still kept.
        assessment: likewise with all calls.
        outcomes: of all scorers, by name: of each the version that counts.
        hidden: of other versions (or all, where a version is active of which there is none), by name and
            version: they count nowhere.
    """

    key: EvaluationKey
    state: EvaluationState
    cause: Cause | None
    attempts: int
    starts: int
    unfinished_starts: int
    sample_rate: float
    created_at: datetime
    finished_at: datetime | None
    next_attempt_at: datetime | None
    lease_until: datetime | None
    calls: int | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    replies: tuple[JudgeCall, ...]
    assessment: Assessment | None
    outcomes: tuple[Outcome, ...]
    hidden: tuple[Outcome, ...] = ()
    reopened_at: datetime | None = None


class RevisionHistory(Value):
    """One revision of a record.

    Attributes:
        admitted_at: when it was stored.
        trace: None where its texts have been dropped.
        evaluations: by judge.
    """

    key: TraceKey
    revision: int
    content_hash: str
    admitted_at: datetime
    occurred_at: datetime
    occurred_at_guessed: bool
    claimed_occurred_at: str | None
    environment: str
    release: str
    variant: str
    trace: Trace | None
    evaluations: tuple[EvaluationHistory, ...]


class TraceHistory(Value):
    """All that is stored under one trace id.

    Attributes:
        revisions: by app, record, day and number.
        parked: messages, newest first.
        spans: where the trace came in spans that are still kept.
    """

    trace_id: str
    revisions: tuple[RevisionHistory, ...]
    parked: tuple[ParkedMessage, ...]
    spans: GatheredSpans | None = None
