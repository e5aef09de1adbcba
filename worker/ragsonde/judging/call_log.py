"""Every call of one exchange, kept as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.texts import mend_text
from ragsonde.judging.cover import cover_nothing
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.judge_call import JudgeCall

if TYPE_CHECKING:
    from ragsonde.judging.completion import CallFaultError, Completion
    from ragsonde.judging.cover import Cover
    from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError

LONGEST_KEPT_REPLY = 16 * 1024
"""Bytes of a raw reply that are kept."""
LONGEST_EVIDENCE = 2_000
"""Characters of a provider's words of why it refuses."""


class CallLog:
    """Grows by one with each call that ended, well or not.

    Args:
        model: as configured.
        cover: of replies that are cut.
    """

    def __init__(self, *, model: str, cover: Cover = cover_nothing) -> None:
        self._model = model
        self._cover = cover
        self._calls: list[JudgeCall] = []

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        """All of them, oldest first."""
        return tuple(self._calls)

    def add_completion(self, purpose: str, completion: Completion, *, outcome: str) -> None:
        """Keeps a call that was answered."""
        self._calls.append(
            JudgeCall(
                purpose=purpose,
                model=self._model,
                answered_model=completion.model,
                outcome=outcome,
                tokens_in=completion.tokens_in,
                tokens_out=completion.tokens_out,
                cost_usd=completion.cost_usd,
                seconds=completion.seconds,
                reply=self._bound(completion.text or completion.refusal or ""),
            )
        )

    def add_failure(self, purpose: str, fault: CallFaultError) -> None:
        """Keeps a call that the provider refused."""
        self._calls.append(
            JudgeCall(
                purpose=purpose,
                model=self._model,
                outcome=fault.cause,
                seconds=fault.seconds,
                reply=self._bound_evidence(fault.evidence),
            )
        )

    def add_outage(
        self, purpose: str, outage: JudgeUnavailableError | JudgePausedError, *, seconds: float
    ) -> None:
        """Keeps a call that nobody answered, with our own words for why."""
        self._calls.append(
            JudgeCall(
                purpose=purpose,
                model=self._model,
                outcome=Cause.JUDGE_UNAVAILABLE,
                seconds=seconds,
                reply=self._bound(str(outage)),
            )
        )

    def _bound(self, reply: str) -> str:
        kept = mend_text(reply)
        if len(kept.encode()) > LONGEST_KEPT_REPLY:
            (kept,) = self._cover((kept,))
        return kept.encode()[:LONGEST_KEPT_REPLY].decode(errors="ignore")

    def _bound_evidence(self, words: str) -> str:
        if len(words) > LONGEST_EVIDENCE:
            (words,) = self._cover((words,))
        return self._bound(words[:LONGEST_EVIDENCE])
