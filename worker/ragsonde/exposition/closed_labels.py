"""Label values that are known whatever the configuration: the closed enums, as far as they go together."""

from __future__ import annotations

from ragsonde.exposition.declaration import Rows
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.ledger import MessageEnd
from ragsonde_schemas.open_record import ClosingReason, FilterCause, LateEffect

SKIPPED_CAUSES = (
    Cause.NO_CONTEXT,
    Cause.CONTEXT_TEXT_MISSING,
    Cause.EMPTY_RETRIEVAL,
    Cause.FILTERED_EMPTY,
    Cause.NO_QUERY,
    Cause.NO_ANSWER,
    Cause.NO_REFERENCE,
    Cause.NO_CLAIMS,
    Cause.NO_RELEVANT_CONTEXT,
)
ERROR_CAUSES = tuple(cause for cause in Cause if cause not in SKIPPED_CAUSES)
NO_CAUSE = ""
OK = "ok"
UNKNOWN_FORMAT = "unknown"

OUTCOMES = Rows(
    ("status", "cause"),
    (*(("skipped", cause) for cause in SKIPPED_CAUSES), *(("error", cause) for cause in ERROR_CAUSES)),
)
STATES = Rows(
    ("state", "cause"),
    (
        (EvaluationState.WAITING, NO_CAUSE),
        (EvaluationState.WAITING, Cause.JUDGE_UNAVAILABLE),
        (EvaluationState.WAITING, Cause.DEADLINE_EXCEEDED),
        (EvaluationState.WAITING, Cause.BUDGET_SPENT),
        (EvaluationState.SCORED, NO_CAUSE),
        (EvaluationState.SAMPLED_OUT, NO_CAUSE),
        (EvaluationState.FILTERED, NO_CAUSE),
        (EvaluationState.SHED, NO_CAUSE),
        (EvaluationState.SHED, Cause.BUDGET_SPENT),
        *((EvaluationState.NOT_EVALUABLE, cause) for cause in SKIPPED_CAUSES),
        *((EvaluationState.FAILED, cause) for cause in ERROR_CAUSES),
    ),
)
BACKFILL_ENDS = Rows(
    ("state",), ((EvaluationState.SCORED,), (EvaluationState.NOT_EVALUABLE,), (EvaluationState.FAILED,))
)
REPLIES = Rows(
    ("outcome",),
    (
        ("ok",),
        *(
            (cause,)
            for cause in (
                Cause.INVALID_REPLY,
                Cause.REPLY_TRUNCATED,
                Cause.EMPTY_REPLY,
                Cause.REFUSED,
                Cause.CONTENT_REFUSED,
                Cause.CONTEXT_WINDOW_EXCEEDED,
                Cause.VERDICT_MISMATCH,
                Cause.INVALID_VERDICT,
                Cause.JUDGE_UNAVAILABLE,
                Cause.JUDGE_REJECTED_REQUEST,
            )
        ),
    ),
)
CLOSINGS = Rows(("reason",), tuple((reason,) for reason in ClosingReason))
LATE_EFFECTS = Rows(("effect",), tuple((effect,) for effect in LateEffect))
FILTER_CAUSES = Rows(("cause",), tuple((cause,) for cause in FilterCause))
REASONS = Rows(("reason",), tuple((reason,) for reason in ParkReason))
DUPLICATE_KINDS = Rows(("kind",), (("duplicate",), ("over_limit",), ("parked",)))
MESSAGE_ENDS = Rows(("outcome",), tuple((end,) for end in MessageEnd))
CACHE_RESULTS = Rows(("result",), (("hit",), ("miss",)))
DIRECTIONS = Rows(("direction",), (("in",), ("out",)))
RECEIVED = Rows(
    ("path", "status"),
    (
        *(("/v1/traces", status) for status in ("200", "400", "401", "413", "415", "503")),
        *(("/traces", status) for status in ("202", "400", "401", "413", "503")),
    ),
)
RECEIVER_OUTCOMES = Rows(("outcome",), (("accepted",), ("refused",), ("unconfirmed",)))
