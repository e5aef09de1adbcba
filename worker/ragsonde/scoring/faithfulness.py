"""Faithfulness: does the answer say only what the contexts support.

raw = claims that are supported / all claims; an unsure one is not supported. Formula of Mastra's
createFaithfulnessScorer. Its mirror, known as hallucination, is a detail: it is never asked for again.
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

find_needs = always(Aspect.CLAIMS)


def compute(_trace: Trace, assessment: Assessment, _options: Options) -> Computed | Skip:
    """The supported share of the answer's claims; a skip where it claims nothing."""
    claims = assessment.claims or ()
    if not claims:
        return Skip(Cause.NO_CLAIMS, "the answer makes no claim")
    counts = Counter(claim.supported for claim in claims)
    raw = counts[Certainty.YES] / len(claims)
    return Computed(
        raw=raw,
        details={
            "n_claims": len(claims),
            "n_supported": counts[Certainty.YES],
            "n_unsure": counts[Certainty.UNSURE],
            "hallucination": drop_noise(1 - raw),
        },
    )


def explain(_trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """How many claims are supported, and which are not."""
    details = computed.details
    is_or_are = verb(details["n_supported"], singular="is", plural="are")
    counted = count_some(details["n_supported"], total=details["n_claims"], noun="claim")
    parts = [f"{counted} of the answer {is_or_are} supported by the contexts"]
    for verdict, words in ((Certainty.NO, "not supported"), (Certainty.UNSURE, "unsure")):
        texts = [claim.text for claim in assessment.claims or () if claim.supported is verdict]
        if texts:
            parts.append(f"{words}: {quote(texts)}")
    return "; ".join(parts)
