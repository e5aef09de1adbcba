"""Context utilization: does the answer use the relevant contexts.

raw = relevant contexts that the answer uses / relevant contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import pair_verdicts
from ragsonde.scoring.formula import Computed, Skip, always
from ragsonde.scoring.phrases import count_some, join_words, quote_reasons, verb
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

find_needs = always(Aspect.RELEVANT, Aspect.USED)


def compute(trace: Trace, assessment: Assessment, _options: Options) -> Computed | Skip:
    """The used share of the relevant contexts; a skip where none is relevant."""
    relevant = [
        (context.number, verdict.used)
        for context, verdict in pair_verdicts(trace, assessment)
        if verdict.relevant
    ]
    if not relevant:
        return Skip(Cause.NO_RELEVANT_CONTEXT, "no context is relevant to question and answer")
    unused = [number for number, is_used in relevant if not is_used]
    n_used = len(relevant) - len(unused)
    return Computed(
        raw=n_used / len(relevant),
        details={"n_relevant": len(relevant), "n_used": n_used, "unused": unused},
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """How many relevant contexts the answer uses, and which it leaves."""
    details = computed.details
    is_or_are = verb(details["n_used"], singular="is", plural="are")
    counted = count_some(details["n_used"], total=details["n_relevant"], noun="relevant context")
    words = f"{counted} {is_or_are} used in the answer"
    if details["unused"] and details["n_used"]:
        words += f"; unused: {join_words(details['unused'])}"
    return words + quote_reasons(assessment.contexts)
