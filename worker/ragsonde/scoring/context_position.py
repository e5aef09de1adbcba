"""Context position: what share of the position weight is relevant.

raw = sum(b_i / (i + 1)) / sum(1 / (i + 1)) over all ranks i; b_i = 1 where the context is relevant to
question and answer. Formula of Mastra's legacy ContextPositionMetric. It is no pure ordering score:
irrelevant contexts cost, so the number of contexts moves it.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import pair_verdicts
from ragsonde.scoring.formula import Computed, always
from ragsonde.scoring.phrases import describe_order, name_some, quote_reasons, verb
from ragsonde.scoring.rounding import drop_noise, show2
from ragsonde_schemas.assessment import Aspect

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

find_needs = always(Aspect.RELEVANT)


def compute(trace: Trace, assessment: Assessment, _options: Options) -> Computed:
    """The relevant share of the position weight, and the best that another order could give."""
    pairs = pair_verdicts(trace, assessment)
    weights = [1 / (context.rank + 1) for context, _ in pairs]
    relevant = [context for context, verdict in pairs if verdict.relevant]
    everything = fsum(weights)
    return Computed(
        raw=drop_noise(fsum(weights[context.rank] for context in relevant) / everything),
        details={
            "n_contexts": len(pairs),
            "n_relevant": len(relevant),
            "relevant": [context.number for context in relevant],
            "best_order_raw": drop_noise(fsum(weights[: len(relevant)]) / everything),
        },
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """Which contexts are relevant, and what their order did."""
    relevant, total = computed.details["relevant"], computed.details["n_contexts"]
    is_or_are = verb(len(relevant), singular="is", plural="are")
    words = f"{name_some(relevant, total=total)} {is_or_are} relevant to question and answer"
    if order := describe_order(relevant, total=total):
        words += f"; {order}"
        if computed.details["best_order_raw"] > computed.raw:
            words += f" (the best order would give {show2(computed.details['best_order_raw'])})"
    return words + quote_reasons(assessment.contexts)
