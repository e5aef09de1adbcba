"""From probabilities to verdicts about contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.judging.lexical.reasons import word_reason
from ragsonde.judging.lexical.use import find_used
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, ContextVerdict, Level

if TYPE_CHECKING:
    from ragsonde.judging.lexical.case import Case
    from ragsonde.judging.lexical.evidence import Estimate, Evidence
    from ragsonde.judging.lexical.heads import Weights

_BLANK = ContextVerdict(
    relevant=False, supports=False, level=Level.NONE, used=False, reason="blank: nothing to read"
)


def judge_contexts(case: Case, *, aspects: frozenset[Aspect], weights: Weights) -> dict[str, ContextVerdict]:
    """The verdicts by context number, every context of the trace once; only the aspects asked for are set."""
    used = _judge_use(case, weights=weights) if Aspect.USED in aspects else [False] * len(case.contexts)
    found = {
        context.rank: _judge_context(evidence, is_used=is_used, case=case, weights=weights)
        for context, evidence, is_used in zip(case.contexts, case.evidence, used, strict=True)
    }
    return {
        context.number: _keep_asked(found.get(context.rank, _BLANK), aspects=aspects, case=case)
        for context in case.trace.contexts or ()
    }


def _keep_asked(verdict: ContextVerdict, *, aspects: frozenset[Aspect], case: Case) -> ContextVerdict:
    unasked = {aspect.value: None for aspect in PER_CONTEXT - aspects}
    if not case.trace.has_reference:
        unasked[Aspect.SUPPORTS] = None
    return verdict.model_copy(update=unasked) if unasked else verdict


def _judge_context(evidence: Evidence, *, is_used: bool, case: Case, weights: Weights) -> ContextVerdict:
    is_relevant = _passes(evidence.query_only, evidence.query_answer, weights=weights)
    estimate = evidence.query_answer or evidence.query_only
    return ContextVerdict(
        relevant=is_relevant,
        supports=_passes(evidence.query_only, evidence.reference, weights=weights),
        level=_grade(evidence, is_relevant=is_relevant, has_answer=case.answer is not None, weights=weights),
        used=is_used,
        reason=word_reason(weights.context[case.head], estimate.values, probability=estimate.probability),
    )


def _passes(query_only: Estimate, query_answer: Estimate | None, *, weights: Weights) -> bool:
    alone, together = weights.cut_offs.relevant
    return query_only.probability >= alone if query_answer is None else query_answer.probability >= together


def _grade(evidence: Evidence, *, is_relevant: bool, has_answer: bool, weights: Weights) -> Level:
    cut_offs = weights.cut_offs
    alone = evidence.query_only.probability
    if (has_answer and is_relevant) or (not has_answer and alone >= cut_offs.high):
        return Level.HIGH
    if has_answer and alone >= cut_offs.medium:
        return Level.MEDIUM
    return Level.LOW if alone >= cut_offs.low else Level.NONE


def _judge_use(case: Case, *, weights: Weights) -> list[bool]:
    if case.has_abstained or not case.trace.has_answer:
        return [False] * len(case.readings)
    if case.answer is None:
        # a bare yes or no has no words of its own: what the question points to is what it was read from
        return [_passes(evidence.query_only, None, weights=weights) for evidence in case.evidence]
    return find_used(
        case.answer_sentences,
        case.readings,
        language=case.answer.language,
        questions=case.questions,
        cut_offs=weights.cut_offs,
    )
