"""What states and causes mean, for people."""

from __future__ import annotations

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState

CAUSES: dict[Cause, str] = {
    Cause.NO_CONTEXT: "the message has no contexts: it is not known what was retrieved",
    Cause.CONTEXT_TEXT_MISSING: "the contexts are known by id only: configure a resolver for their texts",
    Cause.EMPTY_RETRIEVAL: "retrieval returned nothing, so there is nothing to score",
    Cause.FILTERED_EMPTY: "the mapping's filter left none of the contexts that were retrieved",
    Cause.NO_QUERY: "the message has no question",
    Cause.NO_ANSWER: "the message has no answer, and this scorer needs one",
    Cause.NO_REFERENCE: "the message has no reference answer, and this scorer needs one",
    Cause.NO_CLAIMS: "the answer, or the reference, makes no statement that could be checked",
    Cause.NO_RELEVANT_CONTEXT: "no context is relevant, so there is none whose use could be measured",
    Cause.EXTRACTION_FAILED: "a mapping, extractor or resolver of your configuration failed on the trace",
    Cause.NOT_ASSESSED: "the judge did not say what this scorer needs: choose another judge or scorer",
    Cause.VERDICT_MISMATCH: "the judge spoke of contexts or sentences that do not exist, or left some out",
    Cause.INVALID_VERDICT: "a verdict of the judge is none of the allowed values",
    Cause.NO_STATEMENTS: "the contexts hold no statement that could be judged",
    Cause.NOT_FINITE: "the computation gave no finite number",
    Cause.INVALID_REPLY: "the judge's reply is not the JSON that was asked for",
    Cause.REPLY_TRUNCATED: "the judge's reply was cut off: allow it more tokens",
    Cause.EMPTY_REPLY: "the judge's reply was empty",
    Cause.REFUSED: "the judge's model declined to answer",
    Cause.CONTENT_REFUSED: "the provider's content filter refused the trace",
    Cause.CONTEXT_WINDOW_EXCEEDED: "the trace is too long for the judge's model",
    Cause.DEADLINE_EXCEEDED: "judging took longer than one evaluation may",
    Cause.JUDGE_UNAVAILABLE: "the judge could not be reached, or was overloaded, on every try",
    Cause.JUDGE_REJECTED_REQUEST: "the provider rejected the request: check the judge's model and options",
    Cause.JUDGE_RETIRED: "the judge is no longer configured as it was when the trace came",
    Cause.BUDGET_SPENT: "the judge's budget was spent: raise it, or sample fewer traces",
    Cause.CONTENT_EXPIRED: "the texts were dropped by retention before the trace was judged",
    Cause.REPEATED_CRASH: "judging this trace ended the process twice, so it is not tried again",
    Cause.INTERNAL_ERROR: "a fault of ragsonde itself: the log says more",
}
"""By cause, in the order of `Cause`; one line each."""

STATES = {
    EvaluationState.WAITING: "waits for its judge",
    EvaluationState.RUNNING: "is being judged",
    EvaluationState.SCORED: "scored",
    EvaluationState.NOT_EVALUABLE: "not scored: there is nothing to score",
    EvaluationState.FAILED: "not scored: it failed",
    EvaluationState.SAMPLED_OUT: "not judged: it is outside the sample",
    EvaluationState.FILTERED: "not judged: the message asked for none of the configured scorers",
    EvaluationState.SHED: "not judged: the budget is spent",
    EvaluationState.SUPERSEDED: "counts no more: the record turned out to be a part of another one",
}
"""Of a record's newest revision; what is said of older ones is that they are older."""
