"""Context precision: are the relevant contexts on top.

raw = average precision: (1 / R) * sum over the relevant ranks k of hits_k / (k + 1); R = 0 gives 0. A context
is relevant when it supports the reference, or, where a trace has none, when it is relevant to question and
answer. Formula of Mastra's createContextPrecisionScorer.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import pair_verdicts
from ragsonde.scoring.formula import Computed
from ragsonde.scoring.phrases import describe_order, name_some, quote_reasons, verb
from ragsonde.scoring.rounding import drop_noise
from ragsonde_schemas.assessment import Aspect

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

_FOR_ANSWER = frozenset({Aspect.RELEVANT})
_FOR_REFERENCE = frozenset({Aspect.SUPPORTS})


def find_needs(_options: Options, has_reference: bool) -> frozenset[Aspect]:  # noqa: FBT001 - the table's signature
    """`supports` with a reference, else `relevant`."""
    return _FOR_REFERENCE if has_reference else _FOR_ANSWER


def compute(trace: Trace, assessment: Assessment, _options: Options) -> Computed:
    """The average precision of the retrieval order."""
    pairs = pair_verdicts(trace, assessment)
    basis = "reference" if trace.has_reference else "answer"
    relevant = [
        context
        for context, verdict in pairs
        if (verdict.supports if trace.has_reference else verdict.relevant)
    ]
    precisions = [hits / (context.rank + 1) for hits, context in enumerate(relevant, start=1)]
    return Computed(
        raw=drop_noise(fsum(precisions) / len(relevant)) if relevant else 0.0,
        details={
            "basis": basis,
            "n_contexts": len(pairs),
            "n_relevant": len(relevant),
            "relevant": [context.number for context in relevant],
        },
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """Which contexts count, against what, and what their order did."""
    relevant, total = computed.details["relevant"], computed.details["n_contexts"]
    if computed.details["basis"] == "reference":
        claim = verb(len(relevant), singular="supports the reference", plural="support the reference")
    else:
        is_or_are = verb(len(relevant), singular="is", plural="are")
        claim = f"{is_or_are} relevant to question and answer"
    words = f"{name_some(relevant, total=total)} {claim}"
    if order := describe_order(relevant, total=total):
        words += f"; {order}"
        if computed.raw < 1:
            words += " (the best order would give 1.00)"
    return words + quote_reasons(assessment.contexts)
