"""Answer relevancy: does the answer speak to the question.

raw = (relevant statements + 0.3 for each unsure one) / all statements of the answer. Formula and weight of
Mastra's createAnswerRelevancyScorer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ragsonde.scoring.formula import Computed, Skip, always
from ragsonde.scoring.phrases import count_some, quote, verb
from ragsonde.scoring.rounding import drop_noise
from ragsonde_schemas.assessment import Aspect, Certainty
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

UNSURE_WEIGHT = 0.3

find_needs = always(Aspect.ANSWER_STATEMENTS)


def compute(_trace: Trace, assessment: Assessment, _options: Options) -> Computed | Skip:
    """The relevant share of the answer's statements; a skip where it states nothing."""
    statements = assessment.answer_statements or ()
    if not statements:
        return Skip(Cause.NO_CLAIMS, "the answer makes no statement")
    counts = Counter(statement.relevant for statement in statements)
    weight = counts[Certainty.YES] + UNSURE_WEIGHT * counts[Certainty.UNSURE]
    return Computed(
        raw=drop_noise(weight / len(statements)),
        details={
            "n_statements": len(statements),
            "n_relevant": counts[Certainty.YES],
            "n_unsure": counts[Certainty.UNSURE],
        },
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """How many statements are relevant, and which are not."""
    details = computed.details
    is_or_are = verb(details["n_relevant"], singular="is", plural="are")
    counted = count_some(details["n_relevant"], total=details["n_statements"], noun="statement")
    parts = [f"{counted} of the answer {is_or_are} relevant to the question"]
    for verdict, words in (
        (Certainty.NO, "not relevant"),
        (Certainty.UNSURE, f"unsure, {UNSURE_WEIGHT:g} each"),
    ):
        found = assessment.answer_statements or ()
        texts = [statement.text for statement in found if statement.relevant is verdict]
        if texts:
            parts.append(f"{words}: {quote(texts)}")
    return "; ".join(parts)
