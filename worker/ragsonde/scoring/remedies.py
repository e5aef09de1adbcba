"""What to try, where it is the same for several formulas."""

from __future__ import annotations

from ragsonde.scoring.formula import Remedy

FILTER = Remedy(
    sign="many contexts are irrelevant or of level none or low",
    evidence="level and relevance of each context in `ragsonde why`",
    action="filter by retrieval score before ranking",
)
SMALLER_TOP_K = Remedy(
    sign="the score falls as the number of contexts grows",
    evidence="current_score: mean raw by details->>'n_contexts'",
    action="retrieve fewer contexts (smaller top_k)",
)
EMBEDDINGS = Remedy(
    sign="one variant of the retriever scores higher on like questions",
    evidence="current_score joined with trace: mean raw by variant",
    action="try other embeddings, one variant for each",
)
SMALLER_PIECES = Remedy(
    sign="relevant contexts hold few relevant sentences",
    evidence="current_score: by_context of statement_relevancy",
    action="cut the sources into smaller pieces when indexing",
)
