"""One call to a provider: what it answered, and how it can fail to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde.judging.prompt import Message
    from ragsonde_schemas.errors import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a provider answered.

    Attributes:
        text: the model's words; '' where it wrote none.
        finish_reason: as litellm tells it: stop, length, content_filter.
        refusal: the model's words of refusal, where the provider tells them apart.
        cost_usd: None = unknown price.
        has_reasoning: the model's reasoning came, apart from its words.
        has_tool_call: it called a tool.
        choices: answers that differ; 1 is what was asked for.
    """

    text: str
    finish_reason: str
    refusal: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    seconds: float
    has_reasoning: bool = False
    has_tool_call: bool = False
    choices: int = 1


class CallFaultError(Exception):
    """A provider will not answer this request, however often it is asked: the trace's fault, no outage.

    Attributes:
        cause: what the scorers become.
        evidence: the provider's own words, without secrets; may hold the trace's text.
        seconds: how long the call took.
    """

    def __init__(self, cause: Cause, message: str, *, evidence: str = "", seconds: float = 0.0) -> None:
        self.cause = cause
        self.evidence = evidence
        self.seconds = seconds
        super().__init__(message)


class NotAskedError(JudgePausedError):
    """The judge must be paused before anything was sent: there is no call to count."""


class CallNotMadeError(JudgeUnavailableError):
    """The judge is away or busy, so that nothing was sent: there is no call to count."""


class Provider(Protocol):
    """Calls one model."""

    def complete(
        self,
        messages: list[Message],
        *,
        schema: dict[str, Any],
        max_tokens: int,
        timeout_seconds: float,
    ) -> Completion:
        """The model's answer, asked for once.

        Raises:
            CallFaultError: it will not answer this.
            JudgeUnavailableError: it cannot answer now.
            JudgePausedError: it cannot answer until somebody acts.
            CallNotMadeError, NotAskedError: likewise, and nothing was sent.
        """
        ...
