"""Statement relevancy: how much of the text is on the question's subject.

raw = relevant statements / all statements. A statement is a sentence that was shown (the stable denominator),
or, with `statements: extracted`, what the judge took from the contexts. Formula of Mastra's legacy
ContextRelevancyMetric.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import describe_shown, list_shown
from ragsonde.scoring.formula import Computed
from ragsonde.scoring.options import Option, choice_reader
from ragsonde.scoring.phrases import count_some, join_words, quote_reasons, verb
from ragsonde_schemas.assessment import Aspect, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace


class StatementSource(StrEnum):
    """What a statement is."""

    SENTENCES = "sentences"
    EXTRACTED = "extracted"


STATEMENTS = Option(
    "statements",
    default=StatementSource.SENTENCES,
    read=choice_reader(StatementSource),
    meaning="what is counted: sentences, or statements extracted by the judge",
)
_NEEDS = {
    StatementSource.SENTENCES: frozenset({Aspect.RELEVANT_SENTENCES}),
    StatementSource.EXTRACTED: frozenset({Aspect.STATEMENTS}),
}


def find_needs(options: Options, _has_reference: bool) -> frozenset[Aspect]:  # noqa: FBT001 - the table's signature
    """`relevant_sentences`, or `statements` where they are extracted."""
    return _NEEDS[STATEMENTS.of(options)]


def compute(trace: Trace, assessment: Assessment, options: Options) -> Computed | Fault:
    """The relevant share; a fault where there is no statement."""
    source = STATEMENTS.of(options)
    shown = list_shown(trace, assessment)
    if source is StatementSource.EXTRACTED:
        statements = assessment.statements or ()
        verdicts = [(statement.context, statement.relevant) for statement in statements]
    else:
        relevant = frozenset(assessment.relevant_sentences or ())
        verdicts = [(sentence.number.partition(".")[0], sentence.number in relevant) for sentence in shown]
    if not verdicts:
        what = (
            "sentence was shown to" if source is StatementSource.SENTENCES else "statement was extracted by"
        )
        return Fault(cause=Cause.NO_STATEMENTS, message=f"no {what} the judge")
    by_context: dict[str, dict[str, int]] = {}
    for context_number, is_relevant in verdicts:
        if context_number is not None:
            tally = by_context.setdefault(context_number, {"relevant": 0, "all": 0})
            tally["relevant"] += is_relevant
            tally["all"] += 1
    n_relevant = sum(is_relevant for _, is_relevant in verdicts)
    return Computed(
        raw=n_relevant / len(verdicts),
        details={
            "n_contexts": len(trace.contexts or ()),
            "statements": source.value,
            "n_statements": len(verdicts),
            "n_relevant": n_relevant,
            "by_context": by_context,
            **describe_shown(trace, assessment, shown=len(shown)),
        },
    )


def explain(trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """How many statements are relevant, and in which contexts they stand."""
    details = computed.details
    n_relevant, total = details["n_relevant"], details["n_statements"]
    noun = "sentence" if details["statements"] == StatementSource.SENTENCES else "statement"
    is_or_are = verb(n_relevant, singular="is", plural="are")
    subject = "the question, with the answer as evidence" if trace.has_answer else "the question"
    words = f"{count_some(n_relevant, total=total, noun=noun)} {is_or_are} relevant to {subject}"
    places = [
        f"{tally['relevant']} of {tally['all']} in context {number}"
        for number, tally in details["by_context"].items()
        if tally["relevant"]
    ]
    if places and n_relevant < total:
        words += f": {join_words(places)}"
    if details["truncated"] and noun == "sentence":
        words += f"; the judge saw {details['sentences_shown']} of {details['sentences_total']} sentences"
    return words + quote_reasons(assessment.contexts)
