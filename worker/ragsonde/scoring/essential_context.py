"""Essential context: how much of the text was needed.

raw = groups that hold an essential sentence / all groups that were shown; 0 when the contexts do not suffice
to answer. A group is a context, a line or a sentence. Formula of promptfoo's context-relevance. It has no
good direction: a low share may be the price of good retrieval.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import describe_shown, list_shown
from ragsonde.scoring.formula import Computed, always
from ragsonde.scoring.options import Option, choice_reader
from ragsonde.scoring.phrases import count_some, name_some, quote_reasons, verb
from ragsonde_schemas.assessment import Aspect, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Sentence, Trace

find_needs = always(Aspect.ESSENTIAL)


class Units(StrEnum):
    """What is counted.

    `auto`: contexts, where two or more are not blank; else lines, where the one text has two or more; else
    sentences.
    """

    AUTO = "auto"
    SENTENCE = "sentence"
    LINE = "line"
    CONTEXT = "context"


UNITS = Option(
    "units",
    default=Units.AUTO,
    read=choice_reader(Units),
    meaning="what is counted: auto, sentence, line or context",
)


def choose_units(trace: Trace, options: Options) -> Units:
    """What is counted in this trace; never `auto`."""
    units = UNITS.of(options)
    if units is not Units.AUTO:
        return units
    if _count_texts(trace) > 1:
        return Units.CONTEXT
    return Units.LINE if len({sentence.line for sentence in trace.sentences}) > 1 else Units.SENTENCE


def _count_texts(trace: Trace) -> int:
    return sum(bool(context.sentences) for context in trace.contexts or ())


def name_group(sentence: Sentence, *, units: Units) -> str:
    """The group a sentence belongs to: context `2`, sentence `2.3`, or, for a line, `2:3`."""
    if units is Units.SENTENCE:
        return sentence.number
    context_number = sentence.number.partition(".")[0]
    return context_number if units is Units.CONTEXT else f"{context_number}:{sentence.line + 1}"


def compute(trace: Trace, assessment: Assessment, options: Options) -> Computed | Fault:
    """The share of groups with an essential sentence; a fault where no sentence was shown."""
    shown = list_shown(trace, assessment)
    if not shown:
        return Fault(cause=Cause.NO_STATEMENTS, message="no sentence of the contexts was shown to the judge")
    units = choose_units(trace, options)
    is_insufficient = bool(assessment.insufficient)
    essential = frozenset() if is_insufficient else frozenset(assessment.essential or ())
    groups = dict.fromkeys(name_group(sentence, units=units) for sentence in shown)
    essential_groups = dict.fromkeys(
        name_group(sentence, units=units) for sentence in shown if sentence.number in essential
    )
    return Computed(
        raw=len(essential_groups) / len(groups),
        details={
            "n_contexts": len(trace.contexts or ()),
            "units": units.value,
            "n_groups": len(groups),
            "n_essential": len(essential_groups),
            "essential_groups": list(essential_groups),
            "essential": list(assessment.essential or ()),
            "insufficient": is_insufficient,
            **describe_shown(trace, assessment, shown=len(shown)),
        },
    )


def explain(trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """Which groups are essential to what."""
    details = computed.details
    noun, total, groups = details["units"], details["n_groups"], details["essential_groups"]
    if noun == Units.LINE and _count_texts(trace) == 1:
        groups = [group.partition(":")[2] for group in groups]
    is_or_are = verb(len(groups), singular="is", plural="are")
    if details["insufficient"]:
        does_or_do = verb(details["n_contexts"], singular="does", plural="do")
        contexts = count_some(details["n_contexts"], total=details["n_contexts"], noun="context")
        words = f"{contexts} {does_or_do} not suffice to answer the question"
    else:
        words = f"{name_some(groups, total=total, noun=noun)} {is_or_are} essential to answer the question"
        words += ", with the answer as evidence" if trace.has_answer else ""
    if details["truncated"]:
        words += f"; the judge saw {details['sentences_shown']} of {details['sentences_total']} sentences"
    return words + quote_reasons(assessment.contexts)
