"""Which kinds of traces scores are counted apart by: few, and free of anything that a producer wrote.

A stratum is named by what is known of it, such as `contexts:3-5 head:query_only truncated tag:refunds`:
how many contexts the trace has, by which head a lexical judge spoke, whether it could not read all of them,
and the first of the tags that the settings name. With 8 of these there are 432 at most.
"""

from __future__ import annotations

from ragsonde_schemas.score_stream import OTHER

CONTEXT_BANDS = ("0", "1-2", "3-5", "6-10", "11+")
BAND_EDGES = (1, 3, 6, 11)
"""Where the bands after the first begin."""

HEADS = frozenset({"query_only", "query_answer"})
EVERYTHING = "all"
"""The stratum of traces of which nothing is known."""


def name_stratum(*, band: int | None, head: str | None, is_truncated: bool, tag: str | None) -> str:
    """The stratum of a trace under a judge.

    Args:
        band: place in CONTEXT_BANDS; None where the outcome does not tell how many contexts there are.
        head: as the judge calls it; one that none of ours has is `other`.
        is_truncated: the judge could not read all contexts.
        tag: named by the settings, or OTHER; None where they name none.
    """
    parts = (
        None if band is None else f"contexts:{CONTEXT_BANDS[band]}",
        None if head is None else f"head:{head if head in HEADS else OTHER}",
        "truncated" if is_truncated else None,
        None if tag is None else f"tag:{tag}",
    )
    return " ".join(part for part in parts if part is not None) or EVERYTHING
