"""What litellm hands back, read: words, oddities and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.texts import mend_text
from ragsonde.judging.completion import Completion
from ragsonde.judging.reply import LONGEST_REPLY

if TYPE_CHECKING:
    from collections.abc import Callable

    FindCost = Callable[[Any, int | None, int | None], float | None]


def read_response(response: Any, *, find_cost: FindCost, seconds: float) -> Completion:  # noqa: ANN401 - litellm's
    """The completion that a response holds; of several choices the first with words.

    Of words that are too long to be read no more is kept than shows it.

    Args:
        response: a ModelResponse of litellm.
        find_cost: what it cost, from the response, the tokens in and the tokens out; None = not known.
        seconds: how long the call took.
    """
    choices = list(response.choices or ())
    texts = list(dict.fromkeys(text for choice in choices if (text := _read_text(choice)).strip()))
    chosen = next(
        (choice for choice in choices if _read_text(choice).strip()), choices[0] if choices else None
    )
    message = getattr(chosen, "message", None)
    tokens_in, tokens_out = _read_usage(response)
    return Completion(
        text=texts[0] if texts else "",
        finish_reason=str(getattr(chosen, "finish_reason", None) or "stop"),
        refusal=_bound(getattr(message, "refusal", None)),
        model=response.model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=find_cost(response, tokens_in, tokens_out),
        seconds=seconds,
        has_reasoning=bool(getattr(message, "reasoning_content", None)),
        has_tool_call=bool(getattr(message, "tool_calls", None) or getattr(message, "function_call", None)),
        choices=max(1, len(texts)),
    )


def _read_text(choice: Any) -> str:  # noqa: ANN401 - litellm's choice
    content = getattr(getattr(choice, "message", None), "content", None)
    return mend_text(_bound(content) or "")


def _bound(text: Any) -> str | None:  # noqa: ANN401 - what litellm has in place of a text
    return text[: LONGEST_REPLY + 1] if isinstance(text, str) else None


def _read_usage(response: Any) -> tuple[int | None, int | None]:  # noqa: ANN401 - litellm's response
    """Tokens in and out; None where the provider told none: litellm puts 0 there, and no prompt is empty."""
    usage = getattr(response, "usage", None)
    tokens_in, tokens_out = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if not tokens_in:
        return None, None
    return tokens_in, tokens_out
