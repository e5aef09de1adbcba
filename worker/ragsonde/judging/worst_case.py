"""The most that asking about one trace may take, from the prompts that would be sent."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING

from ragsonde.judging.exchange import LONGEST_FAULT, LONGEST_SHOWN_REPLY
from ragsonde.judging.instructions import build_schema
from ragsonde.judging.model_prices import price_tokens
from ragsonde_schemas.spending import WorstCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.model_options import TokenPrices
    from ragsonde.judging.prompt import Prompt
    from ragsonde.judging.token_budget import CountTokens

_CALLS_A_PART = 3
"""The call, once more (with twice the room, or with half of the contexts), and one repair."""
_TOKENS_AROUND = 32
"""What a provider puts around two messages and a schema."""
_MARGIN = 1.25
"""Other models' tokenizers cut the same text into more tokens than the one that it is counted with."""


def estimate_worst(
    prompts: Sequence[Prompt], *, max_tokens: int, prices: TokenPrices | None, count: CountTokens
) -> WorstCase:
    """Every call of every prompt; its reply as long as is allowed, the repair with all that it may show.

    Args:
        prompts: one a part of the trace.
        max_tokens: of a reply, before it is doubled.
        prices: None = not known.
        count: tokens of a text.
    """
    tokens_in = sum(_count_in(prompt, max_tokens=max_tokens, count=count) for prompt in prompts)
    tokens_out = len(prompts) * (max_tokens + 2 * max_tokens + 2 * max_tokens)
    cost = None if prices is None else price_tokens(prices, tokens_in=tokens_in, tokens_out=tokens_out)
    return WorstCase(calls=_CALLS_A_PART * len(prompts), tokens=tokens_in + tokens_out, cost_usd=cost)


def _count_in(prompt: Prompt, *, max_tokens: int, count: CountTokens) -> int:
    parts = (prompt.system, prompt.user, json.dumps(build_schema(prompt.keys)))
    prompt_tokens = ceil(_MARGIN * sum(count(part) for part in parts)) + _TOKENS_AROUND
    repair_tokens = min(LONGEST_SHOWN_REPLY, 2 * max_tokens) + LONGEST_FAULT
    return _CALLS_A_PART * prompt_tokens + repair_tokens
