"""Why a context got its verdict, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.lexical.heads import Head

_WORDING = {
    "q_cov": "holds {share} of the question's words",
    "q_sent": "has a sentence with {share} of the question's words",
    "q_gram": "holds {share} of the question's letter sequences",
    "q_lead": "begins with a sentence with {share} of the question's words",
    "q_first": "begins with words of the question",
    "a_new": "holds {share} of the answer's own words",
    "a_sent": "has a sentence with {share} of the answer's own words",
    "joint": "has a sentence with {share} of both question and answer",
    "a_gram": "holds {share} of the answer's letter sequences",
    "a_tri": "holds {share} of the answer's word sequences",
    "a_num": "holds {share} of the answer's numbers",
}


def word_reason(head: Head, values: Sequence[float], *, probability: float) -> str:
    """The feature that adds most to the verdict, with its value, and the probability."""
    strongest = head.find_strongest(values)
    if strongest is None:
        return f"shares no word with what is looked for (p {probability:.2f})"
    share = f"{values[strongest]:.0%}"
    return f"{_WORDING[head.features[strongest]].format(share=share)} (p {probability:.2f})"
