"""What an assessment says about the contexts of a trace, in rank order, and whether it says enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.phrases import describe_mismatch
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Assessment, ContextVerdict, Fault, Level
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Context, Sentence, Trace

_BLANK = ContextVerdict(relevant=False, supports=False, level=Level.NONE, used=False)
_ORDER = tuple(Aspect)


def find_fault(
    trace: Trace, assessment: Assessment, *, needs: frozenset[Aspect], optional: frozenset[Aspect]
) -> tuple[Aspect, Fault] | None:
    """The first aspect that cannot be used, with why, or None when all that is needed is there.

    An optional aspect may be absent, but not faulty: a judge that answered unusably gave no number.
    """
    for aspect in _ORDER:
        if aspect not in needs and aspect not in optional:
            continue
        fault = assessment.faults.get(aspect)
        if fault is None and aspect in needs:
            fault = _find_gap(aspect, trace=trace, assessment=assessment)
        if fault is not None:
            return aspect, fault
    return None


def pair_verdicts(trace: Trace, assessment: Assessment) -> list[tuple[Context, ContextVerdict]]:
    """Every context with its verdict, by rank; blank ones are irrelevant, level none, unused."""
    verdicts = assessment.contexts or {}
    return [
        (context, _BLANK if context.is_blank else verdicts[context.number])
        for context in trace.contexts or ()
    ]


def list_shown(trace: Trace, assessment: Assessment) -> tuple[Sentence, ...]:
    """The sentences that were judged: all, or those within the judge's token budget."""
    if assessment.sentences_shown is None:
        return trace.sentences
    shown = frozenset(assessment.sentences_shown)
    return tuple(sentence for sentence in trace.sentences if sentence.number in shown)


def describe_shown(trace: Trace, assessment: Assessment, *, shown: int) -> dict[str, int | bool]:
    """The details that say which part of the text was judged."""
    total = len(trace.sentences)
    return {
        "sentences_shown": shown,
        "sentences_total": total,
        "truncated": assessment.truncated or shown < total,
    }


def _find_gap(aspect: Aspect, *, trace: Trace, assessment: Assessment) -> Fault | None:
    if aspect in PER_CONTEXT:
        return _find_context_gap(aspect, trace=trace, assessment=assessment)
    if aspect is Aspect.ESSENTIAL:
        if assessment.essential is None and not assessment.insufficient:
            return _NOT_ASSESSED
        return _find_unknown_sentence(assessment.essential or (), trace=trace)
    if aspect is Aspect.RELEVANT_SENTENCES:
        if assessment.relevant_sentences is None:
            return _NOT_ASSESSED
        return _find_unknown_sentence(assessment.relevant_sentences, trace=trace)
    return _NOT_ASSESSED if getattr(assessment, aspect) is None else None


def _find_context_gap(aspect: Aspect, *, trace: Trace, assessment: Assessment) -> Fault | None:
    verdicts = assessment.contexts or {}
    known = {number for number, verdict in verdicts.items() if getattr(verdict, aspect) is not None}
    if not known:
        return _NOT_ASSESSED
    contexts = trace.contexts or ()
    expected = {context.number for context in contexts if not context.is_blank}
    known -= {context.number for context in contexts if context.is_blank}
    if known == expected:
        return None
    return Fault(cause=Cause.VERDICT_MISMATCH, message=describe_mismatch(known, expected=expected))


def _find_unknown_sentence(numbers: tuple[str, ...], *, trace: Trace) -> Fault | None:
    known = {sentence.number for sentence in trace.sentences}
    unknown = [number for number in numbers if number not in known]
    if not unknown:
        return None
    message = f"no sentence has the number {', '.join(unknown)}"
    return Fault(cause=Cause.VERDICT_MISMATCH, message=message)


_NOT_ASSESSED = Fault(cause=Cause.NOT_ASSESSED, message="the judge did not assess it")
