"""Which of a trace's retrievals are judged."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from ragsonde_schemas.value import Value


class RetrievalChoice(StrEnum):
    """What is judged of several retrievals in one trace."""

    LAST = "last"
    """What reached the final generation: the last reranker's output, else all retrievers before it."""
    UNION = "union"
    """All that was retrieved, by any step, in order of time."""
    PER_STEP = "per_step"
    """Each retrieval as a record of its own."""


class RetrievalOptions(Value):
    """How the contexts of a record are put together."""

    retrievals: RetrievalChoice = Field(
        default=RetrievalChoice.LAST, description="which of several retrievals are judged"
    )
    deduplicate: bool = Field(
        default=True, description="contexts with equal id and text count once, at the first one's rank"
    )
