"""A provider written by hand, for tests of the conversation with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragsonde.judging.completion import Completion

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.judging.prompt import Message


def make_completion(text: str, **fields: Any) -> Completion:  # noqa: ANN401 - any field of a completion
    """An answer with this text; two tokens in, one out, price unknown."""
    values = {
        "finish_reason": "stop",
        "refusal": None,
        "model": "fake-1",
        "tokens_in": 2,
        "tokens_out": 1,
        "cost_usd": None,
        "seconds": 0.5,
    }
    return Completion(text=text, **{**values, **fields})


@dataclass
class FakeProvider:
    """Answers as scripted, one step a call: a completion, an exception, or what makes one of the two.

    Attributes:
        asked: what each call was given.
    """

    script: list[Completion | Exception | Callable[[], Completion | Exception]]
    asked: list[dict[str, Any]] = field(default_factory=list)

    def complete(
        self,
        messages: list[Message],
        *,
        schema: dict[str, Any],
        max_tokens: int,
        timeout_seconds: float,
    ) -> Completion:
        self.asked.append(
            {
                "messages": messages,
                "schema": schema,
                "max_tokens": max_tokens,
                "timeout_seconds": timeout_seconds,
            }
        )
        step = self.script.pop(0)
        outcome = step if isinstance(step, Completion | Exception) else step()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
