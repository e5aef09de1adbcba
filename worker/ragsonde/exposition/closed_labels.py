"""Label values that are known whatever the configuration: the closed enums, as far as they go together."""

from __future__ import annotations

from ragsonde.exposition.declaration import Rows
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState

SKIPPED_CAUSES = (Cause.NO_CONTEXT, Cause.EMPTY_RETRIEVAL, Cause.NO_QUERY, Cause.NO_ANSWER)
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
        (EvaluationState.SCORED, NO_CAUSE),
        (EvaluationState.SAMPLED_OUT, NO_CAUSE),
        (EvaluationState.FILTERED, NO_CAUSE),
        (EvaluationState.SHED, NO_CAUSE),
        *((EvaluationState.NOT_EVALUABLE, cause) for cause in SKIPPED_CAUSES),
        *((EvaluationState.FAILED, cause) for cause in ERROR_CAUSES),
    ),
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
REASONS = Rows(("reason",), tuple((reason,) for reason in ParkReason))
DUPLICATE_KINDS = Rows(("kind",), (("duplicate",), ("over_limit",), ("parked",)))
DIRECTIONS = Rows(("direction",), (("in",), ("out",)))
