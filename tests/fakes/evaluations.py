"""Traces, plans and results for tests of the stores: small, but with every field that is stored."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fakes.clock import NOON
from ragsonde.extraction.sentences import number_sentences
from ragsonde_schemas.assessment import (
    Aspect,
    Assessment,
    ContextVerdict,
    Fault,
    Level,
    StatementVerdict,
)
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationResult, EvaluationState, PlannedEvaluation
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.score import Outcome, Score, Unscored
from ragsonde_schemas.trace import (
    Context,
    ContextOrigin,
    EvaluationWish,
    Extraction,
    FieldEvidence,
    InjectionKind,
    Reference,
    SuspectedInjection,
    Trace,
    Turn,
)

if TYPE_CHECKING:
    from datetime import datetime

FREE, PAID = "lexical", "gpt"
FREE_PRINT, PAID_PRINT = "0123456789abcdef", "fedcba9876543210"


def make_context(rank: int, content: str, **fields) -> Context:
    sentences = number_sentences(content, context_number=str(rank + 1))
    return Context(rank=rank, content=content, sentences=sentences, **fields)


def make_trace(
    trace_id: str = "t-1", *, answer: str = "Within 14 days.", occurred_at: datetime = NOON, **fields
) -> Trace:
    """A trace whose content hash follows from its answer."""
    contexts = (
        make_context(0, "A refund takes 14 days. It begins when the parcel arrives.\nAsk us."),
        make_context(1, "Shipping is free."),
    )
    defaults: dict[str, Any] = {
        "app": "shop",
        "query": "How long does a refund take?",
        "contexts": contexts,
        "content_hash": sha256(answer.encode()).hexdigest(),
        "extraction": Extraction(format="native"),
    }
    return Trace(trace_id=trace_id, answer=answer, occurred_at=occurred_at, **{**defaults, **fields})


def make_full_trace(trace_id: str = "t-full") -> Trace:
    """A trace in which no field holds its default."""
    return make_trace(
        trace_id,
        record_key="turn-2",
        event_id="e-1",
        environment="production",
        release="2026.6",
        variant="b",
        session_id="s-1",
        user_id="u-1",
        claimed_occurred_at="1970-01-01T00:00:00Z",
        retrieval_query="refund duration",
        turns=(Turn(role="user", content="Hello"), Turn(role="assistant", content="Hi \\u0000 \N{SNOWMAN}")),
        contexts=(
            make_context(
                0,
                "Zwei Sätze. Hier der zweite.",
                id="d-1",
                score=0.25,
                source_uri="kb://refunds",
                metadata={"page": 3, "nested": {"none": None, "list": [1, 2.5, "x"]}},
                origin=ContextOrigin.RERANKER,
            ),
            make_context(1, "  \n"),
            make_context(2, "Ein Satz", id="d-2"),
        ),
        reference=Reference(answer="14 days", contexts=("a", "b"), context_ids=("d-1",)),
        model="gpt-5",
        usage={"input_tokens": 120, "output_tokens": 5},
        latency_ms=812.5,
        cost_usd=0.0031,
        tags=("beta", 'quo"te', "back\\slash", "{curly}", ""),
        metadata={"tenant": "a", "flags": [True, None]},
        extra={"unknown": {"key": "value"}},
        wish=EvaluationWish(scorers=("context_precision",), sample_rate=0.5),
        sampling_probability=0.1,
        extraction=Extraction(
            format="native",
            fields={"query": FieldEvidence(rule="native:query", confidence="derived")},
            warnings=("rank is ignored",),
            suspected_injection=(SuspectedInjection(where="context 1", kind=InjectionKind.HIDDEN),),
        ),
    )


def make_outcomes(raw: float = 0.8) -> tuple[Outcome, ...]:
    """A score and an error."""
    return (
        Score(
            scorer="context_precision",
            version="1:answer",
            raw=raw,
            value=round(raw * 10, 1),
            band="good",
            passed=True,
            reason="1 of 2 contexts is relevant",
            details={"relevant": ["1"], "weights": [1, 0.5], "missing": None},
        ),
        Unscored(
            status="error",
            scorer="statement_relevancy",
            version="1",
            cause=Cause.NOT_ASSESSED,
            reason="no statements were assessed",
        ),
    )


def make_assessment(*, calls: tuple[JudgeCall, ...] = ()) -> Assessment:
    """An assessment in which no field holds its default, but for the calls."""
    return Assessment(
        contexts={
            "1": ContextVerdict(relevant=True, supports=False, level=Level.HIGH, used=True, reason="says so"),
            "2": ContextVerdict(relevant=False, level=Level.NONE),
        },
        missing=("opening hours",),
        essential=("1.1",),
        insufficient=False,
        relevant_sentences=("1.1", "1.2"),
        statements=(
            StatementVerdict(context="1", text="A refund takes 14 days.", relevant=True, reason="yes"),
        ),
        reason="the first context answers",
        faults={Aspect.LEVEL: Fault(cause=Cause.VERDICT_MISMATCH, message="level of 2 is missing")},
        sentences_shown=("1.1", "1.2", "1.3"),
        truncated=True,
        head="qa",
        abstained=False,
        answered_model="gpt-5-mini-2026",
        notes={"overlap": 0.5, "terms": ["refund"]},
        calls=calls,
    )


def make_calls() -> tuple[JudgeCall, ...]:
    """A call whose reply was not usable, and its repair."""
    return (
        JudgeCall(
            purpose="assess",
            model="gpt-5-mini",
            answered_model="gpt-5-mini-2026",
            outcome="invalid_reply",
            tokens_in=1500,
            tokens_out=80,
            cost_usd=0.001,
            seconds=0.9,
            reply="not json",
        ),
        JudgeCall(
            purpose="repair",
            model="gpt-5-mini",
            outcome="ok",
            tokens_in=1700,
            tokens_out=90,
            cost_usd=0.0015,
            seconds=1.1,
            reply='{"contexts": {}}',
        ),
    )


def make_outage_call() -> JudgeCall:
    """A call that nobody answered."""
    return JudgeCall(
        purpose="repair",
        model="gpt-5-mini",
        outcome="judge_unavailable",
        seconds=60.0,
        reply="judge gpt: Timeout",
    )


def make_result(
    state: EvaluationState = EvaluationState.SCORED,
    *,
    raw: float = 0.8,
    assessment: Assessment | None = None,
) -> EvaluationResult:
    """A result that ends in the given state."""
    outcomes = make_outcomes(raw)
    if state is EvaluationState.SCORED:
        return EvaluationResult(state=state, outcomes=outcomes, assessment=assessment or make_assessment())
    cause = Cause.NOT_ASSESSED if state is EvaluationState.FAILED else Cause.NO_CONTEXT
    status = "error" if state is EvaluationState.FAILED else "skipped"
    unscored = tuple(
        Unscored(status=status, scorer=one.scorer, version=one.version, cause=cause, reason="why")
        for one in outcomes
    )
    return EvaluationResult(state=state, cause=cause, outcomes=unscored, assessment=assessment)


def plan_free(raw: float = 0.8) -> PlannedEvaluation:
    """The free judge's, finished."""
    return PlannedEvaluation(
        judge=FREE,
        fingerprint=FREE_PRINT,
        state=EvaluationState.SCORED,
        sample_rate=1.0,
        result=make_result(raw=raw),
    )


def plan_paid(state: EvaluationState = EvaluationState.WAITING) -> PlannedEvaluation:
    """The paid judge's, waiting unless said otherwise."""
    return PlannedEvaluation(judge=PAID, fingerprint=PAID_PRINT, state=state, sample_rate=0.05)
