"""How much of what was retrieved a judge calls relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

BYTES_A_TOKEN = 4
"""Of UTF-8: a short word of English or a sign of Chinese, give or take; every model counts its own."""


def count_tokens(trace: Trace, assessment: Assessment) -> dict[str, float]:
    """Estimated tokens of the contexts called relevant (`yes`) and not (`no`).

    Empty where relevance was not assessed; a single context without a verdict is in neither.
    """
    verdicts = assessment.contexts
    if verdicts is None or all(verdict.relevant is None for verdict in verdicts.values()):
        return {}
    counts = {"yes": 0.0, "no": 0.0}
    for context in trace.contexts or ():
        verdict = verdicts.get(context.number)
        if verdict is not None and verdict.relevant is not None:
            size = len(context.content.encode(errors="replace"))
            counts["yes" if verdict.relevant else "no"] += -(-size // BYTES_A_TOKEN)
    return counts
