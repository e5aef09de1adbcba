"""One call to a provider, kept as evidence of what was asked and what it cost."""

from __future__ import annotations

from ragsonde_schemas.value import Value

UNANSWERED = "judge_unavailable"
"""The outcome of a call that an outage ended; as a cause it has the same name."""


class JudgeCall(Value):
    """One call to a provider.

    Attributes:
        purpose: `assess`, `repair`, `length` (once more with room for a longer reply) or `trim` (once more
            with half of the contexts).
        outcome: `ok`, the cause that made the reply unusable, or `judge_unavailable` where none came.
        cost_usd: None = unknown price, which is not 0.
        reply: the raw text, bounded; evidence.
    """

    purpose: str
    model: str
    answered_model: str | None = None
    outcome: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float
    reply: str

    @property
    def is_answered(self) -> bool:
        """False where an outage ended it: then it has no tokens and no price to be known."""
        return self.outcome != UNANSWERED
