"""Signal share: how many of the contexts help at all.

raw = 1 - contexts of level none / all contexts; blank contexts are of level none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import pair_verdicts
from ragsonde.scoring.formula import Computed, always
from ragsonde.scoring.phrases import name_some, quote_reasons, verb
from ragsonde_schemas.assessment import Aspect, Level

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

find_needs = always(Aspect.LEVEL)


def compute(trace: Trace, assessment: Assessment, _options: Options) -> Computed:
    """The share of contexts that are more than noise."""
    pairs = pair_verdicts(trace, assessment)
    noise = [context.number for context, verdict in pairs if verdict.level is Level.NONE]
    # the count of the others, not 1 - a fraction: two of three are 2/3 to the last digit
    return Computed(
        raw=(len(pairs) - len(noise)) / len(pairs),
        details={"n_contexts": len(pairs), "n_none": len(noise), "none": noise},
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """Which contexts are noise."""
    noise, total = computed.details["none"], computed.details["n_contexts"]
    is_or_are = verb(len(noise), singular="is", plural="are")
    words = f"{name_some(noise, total=total)} {is_or_are} of no help to answer the question"
    return words + quote_reasons(assessment.contexts)
