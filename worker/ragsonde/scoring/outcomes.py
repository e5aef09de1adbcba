"""From scorers, a trace and its assessment to outcomes: numbers, or the reasons why there are none."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.texts import mend_text
from ragsonde.scoring.assessed import find_fault
from ragsonde.scoring.bands import find_band
from ragsonde.scoring.formula import Computed, Evidence, Skip
from ragsonde.scoring.phrases import shorten
from ragsonde.scoring.rounding import half_up2, is_finite_throughout, show2
from ragsonde_schemas.assessment import Aspect, Fault
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.score import Score, Unscored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace


_LONGEST_ERROR = 300


def score_all(scorers: Iterable[Scorer], trace: Trace, assessment: Assessment) -> tuple[Outcome, ...]:
    """The outcome of each scorer, in their order; one that fails leaves the others alone."""
    return tuple(score(scorer, trace, assessment) for scorer in scorers)


def score(scorer: Scorer, trace: Trace, assessment: Assessment) -> Outcome:
    """The outcome of one scorer; whatever its formula does, an outcome and never an exception."""
    skip = find_skip(scorer, trace)
    if skip is not None:
        return skip
    found = _find_fault(scorer, trace, assessment=assessment)
    if found is not None:
        aspect, fault = found
        message = fault.message if aspect is None else f"{aspect}: {fault.message}"
        return _fail(scorer, trace, cause=fault.cause, message=message, aspect=aspect)
    try:
        computed = scorer.formula.compute(trace, assessment, scorer.options)
        if isinstance(computed, Fault):
            return _fail(scorer, trace, cause=computed.cause, message=computed.message)
        if isinstance(computed, Skip):
            return _skip(scorer, trace, cause=computed.cause, message=computed.message)
        return _conclude_score(scorer, trace, assessment=assessment, computed=computed)
    except Exception as error:  # noqa: BLE001 - a formula of any kind of mistake costs its own score only
        message = shorten(
            mend_text(f"the formula failed with {type(error).__name__}: {error}"), most=_LONGEST_ERROR
        )
        return _fail(scorer, trace, cause=Cause.INTERNAL_ERROR, message=message)


def find_skip(scorer: Scorer, trace: Trace) -> Outcome | None:
    """What can be said before any judge is asked, or None when a judge must be.

    A trace without contexts, question, or answer or reference where one is needed, is skipped; without
    contexts it has a score where the scorer's `empty_context_score` says so. One of which the user's mapping
    or function found no fields is an error: what else was found may not be what the user means.
    """
    if trace.extraction.failure is not None:
        return _fail(scorer, trace, cause=Cause.EXTRACTION_FAILED, message=trace.extraction.failure)
    cause = trace.missing_contexts
    if cause is not None and scorer.empty_context_score is not None:
        details = {"empty_context_score": scorer.empty_context_score, "cause": cause.value}
        return _conclude_score(
            scorer, trace, assessment=None, computed=Computed(scorer.empty_context_score, details)
        )
    if cause is None and not trace.has_query:
        cause = Cause.NO_QUERY
    if cause is None and not _has_evidence(trace, evidence=scorer.formula.evidence):
        cause = Cause.NO_REFERENCE if scorer.formula.evidence is Evidence.REFERENCE else Cause.NO_ANSWER
    if cause is None:
        return None
    message = _describe_skip(cause, trace=trace, evidence=scorer.formula.evidence)
    return _skip(scorer, trace, cause=cause, message=message)


def fail_all(scorers: Iterable[Scorer], trace: Trace, cause: Cause, message: str) -> tuple[Outcome, ...]:
    """The outcome of each scorer when the judge gave nothing: error(cause), but skips stay skips."""
    return tuple(
        find_skip(scorer, trace) or _fail(scorer, trace, cause=cause, message=message) for scorer in scorers
    )


def conclude(outcomes: Sequence[Outcome]) -> tuple[EvaluationState, Cause | None]:
    """The state an evaluation ends in, and why it has no number.

    SCORED when any outcome is a number; NOT_EVALUABLE when all are skipped, with their commonest cause; else
    FAILED, with the commonest cause of its errors. Of equally common causes the first.
    """
    if any(isinstance(outcome, Score) for outcome in outcomes):
        return EvaluationState.SCORED, None
    errors = [outcome.cause for outcome in outcomes if outcome.status == "error"]
    causes = Counter(errors or [outcome.cause for outcome in outcomes if isinstance(outcome, Unscored)])
    state = EvaluationState.FAILED if errors else EvaluationState.NOT_EVALUABLE
    return state, causes.most_common(1)[0][0] if causes else None


def needed_aspects(scorers: Iterable[Scorer], trace: Trace) -> frozenset[Aspect]:
    """What a judge must be asked about this trace: needs and options of all scorers that are not skipped."""
    return frozenset[Aspect]().union(
        *(scorer.needs_for(trace) | scorer.optional for scorer in scorers if find_skip(scorer, trace) is None)
    )


def is_enough(assessment: Assessment, trace: Trace, *, scorers: Iterable[Scorer]) -> bool:
    """True when an assessment holds, without fault, all that a judge would be asked about this trace.

    One of a trace that was shown in part is not: another budget of tokens may show more.
    """
    if assessment.truncated:
        return False
    judged = [scorer for scorer in scorers if find_skip(scorer, trace) is None]
    needs = needed_aspects(judged, trace)
    if find_fault(trace, assessment, needs=needs, optional=frozenset()) is not None:
        return False
    return all(_find_fault(scorer, trace, assessment=assessment) is None for scorer in judged)


def list_gaps(scorer: Scorer, trace: Trace, assessment: Assessment) -> frozenset[Aspect]:
    """The aspects that a scorer needs or takes of a trace and that were never asked.

    One that came back unusable is none of them: it was asked.
    """
    asked = needed_aspects((scorer,), trace)
    if scorer.formula.find_own_fault is not None:
        fault = scorer.formula.find_own_fault(assessment, scorer.options)
        return asked if fault is not None and fault.cause is Cause.NOT_ASSESSED else frozenset()
    nothing = frozenset[Aspect]()
    faults = {
        aspect: find_fault(trace, assessment, needs=frozenset({aspect}), optional=nothing) for aspect in asked
    }
    return frozenset(
        aspect
        for aspect, found in faults.items()
        if found is not None and aspect not in assessment.faults and found[1].cause is Cause.NOT_ASSESSED
    )


def _find_fault(
    scorer: Scorer, trace: Trace, *, assessment: Assessment
) -> tuple[Aspect | None, Fault] | None:
    find_own = scorer.formula.find_own_fault
    if find_own is None:
        return find_fault(trace, assessment, needs=scorer.needs_for(trace), optional=scorer.optional)
    fault = find_own(assessment, scorer.options)
    return None if fault is None else (None, fault)


def _conclude_score(
    scorer: Scorer, trace: Trace, *, assessment: Assessment | None, computed: Computed
) -> Outcome:
    raw, details = computed.raw, computed.details
    if not math.isfinite(raw) or not is_finite_throughout(details):
        return _fail(scorer, trace, cause=Cause.NOT_FINITE, message="the formula gave NaN or infinity")
    scaled = raw * scorer.scale
    if not math.isfinite(scaled * 100):
        message = f"raw {raw} times scale {scorer.scale} is too large for a number"
        return _fail(scorer, trace, cause=Cause.NOT_FINITE, message=message)
    value = half_up2(scaled) if scorer.formula.is_rounded else scaled
    band = find_band(scorer.formula.bands, raw=raw)
    label = show2(value) if scorer.scale == 1 else f"{show2(value)} of {scorer.scale:g}"
    if assessment is None:
        words = f"{_describe_absence(trace)}; empty_context_score decides"
    else:
        details = details | _describe_cut(assessment)
        words, template_error = _explain(scorer, trace, assessment=assessment, computed=computed)
        if template_error is not None:
            details = details | {"reason_error": template_error}
    return Score(
        scorer=scorer.instance,
        version=scorer.version_for(trace),
        raw=raw,
        value=value,
        band=band.key,
        passed=None if scorer.threshold is None else raw >= scorer.threshold,
        reason=f"{label}: {words}",
        details=_count_contexts(trace) | details | {"band": band.key},
    )


def _describe_cut(assessment: Assessment) -> dict[str, Any]:
    """What the details say of texts beside the contexts that the judge did not see whole; {} where it did."""
    shortened = assessment.notes.get("shortened")
    return {"truncated": True, "shortened": shortened} if shortened else {}


def _explain(
    scorer: Scorer, trace: Trace, *, assessment: Assessment, computed: Computed
) -> tuple[str, str | None]:
    """The reason, and the name of the exception where its template failed: the score stays."""
    try:
        return scorer.formula.explain(trace, assessment, computed, scorer.options), None
    except Exception as error:  # noqa: BLE001 - words never cost a number
        return "its reason could not be written, the details explain it", type(error).__name__


def _skip(scorer: Scorer, trace: Trace, *, cause: Cause, message: str) -> Unscored:
    return Unscored(
        status="skipped",
        scorer=scorer.instance,
        version=scorer.version_for(trace),
        cause=cause,
        reason=message,
        details=_count_contexts(trace),
    )


def _fail(
    scorer: Scorer, trace: Trace, *, cause: Cause, message: str, aspect: Aspect | None = None
) -> Unscored:
    return Unscored(
        status="error",
        scorer=scorer.instance,
        version=scorer.version_for(trace),
        cause=cause,
        reason=message,
        details=_count_contexts(trace) | ({} if aspect is None else {"aspect": aspect.value}),
    )


def _has_evidence(trace: Trace, *, evidence: Evidence) -> bool:
    if evidence is Evidence.QUESTION:
        return True
    has_reference = evidence in {Evidence.REFERENCE, Evidence.REFERENCE_OR_ANSWER} and trace.has_reference
    return has_reference or (evidence is not Evidence.REFERENCE and trace.has_answer)


def _count_contexts(trace: Trace) -> dict[str, int]:
    return {"n_contexts": len(trace.contexts or ())}


def _describe_absence(trace: Trace) -> str:
    if trace.contexts is None:
        return "the trace does not say which contexts were retrieved"
    if not trace.contexts:
        return "retrieval returned nothing"
    return f"retrieval returned only blank contexts ({len(trace.contexts)})"


def _describe_skip(cause: Cause, *, trace: Trace, evidence: Evidence) -> str:
    if cause is Cause.NO_QUERY:
        return "the trace has no question"
    if cause is Cause.NO_REFERENCE:
        return "the trace has no reference answer"
    if cause is Cause.NO_ANSWER:
        return (
            "the trace has neither a reference nor an answer"
            if evidence is Evidence.REFERENCE_OR_ANSWER
            else "the trace has no answer"
        )
    return _describe_absence(trace)
