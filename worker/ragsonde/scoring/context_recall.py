"""Context recall: do the contexts hold what the reference answer says.

raw = statements of the reference that can be attributed to the contexts / all its statements. Formula of
promptfoo's context-recall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.formula import Computed, Skip, always
from ragsonde.scoring.phrases import count_some, quote
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

find_needs = always(Aspect.REFERENCE_STATEMENTS)


def compute(_trace: Trace, assessment: Assessment, _options: Options) -> Computed | Skip:
    """The attributed share of the reference's statements; a skip where it states nothing."""
    statements = assessment.reference_statements or ()
    if not statements:
        return Skip(Cause.NO_CLAIMS, "the reference answer makes no statement")
    n_attributed = sum(statement.attributed for statement in statements)
    return Computed(
        raw=n_attributed / len(statements),
        details={"n_statements": len(statements), "n_attributed": n_attributed},
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """How much of the reference the contexts hold, and what they lack."""
    details = computed.details
    counted = count_some(details["n_attributed"], total=details["n_statements"], noun="statement")
    words = f"{counted} of the reference can be drawn from the contexts"
    found = assessment.reference_statements or ()
    lacking = [statement.text for statement in found if not statement.attributed]
    return f"{words}; lacking: {quote(lacking)}" if lacking else words
