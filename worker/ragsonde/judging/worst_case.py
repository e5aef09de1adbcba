"""The most that asking about one trace is expected to take, from the prompts that would be sent.

Calls are an upper bound. Replies are allowed far more tokens than they take, so that a reservation of all
that is allowed would be some 60 times what a trace costs, and a day's budget would be held by a handful of
traces. So a long reply is reserved, several times the usual one, and one call more for a trace: a second try
and a repair are rare. A run may take more than it has reserved, at the utmost every call with the longest
reply: a limit in tokens or dollars may be exceeded by as much for each trace that is under way when the last
of it is given out, and by no more, as what was spent counts in full.
"""

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
    from ragsonde_schemas.trace import Trace

_CALLS_A_PART = 3
"""The call, once more (with twice the room, or with half of the contexts), and one repair."""
_TOKENS_AROUND = 32
"""What a provider puts around two messages and a schema."""
_MARGIN = 1.25
"""Other models' tokenizers cut the same text into more tokens than the one that it is counted with."""

_LONG = 4
"""So many usual replies long is a long one, with what a model thinks before it writes."""
_REPLY_TOKENS = 200
"""Of a usual reply, beside what it says of each context, sentence, rubric and statement."""
_TOKENS_A_CONTEXT = 40
_TOKENS_A_SENTENCE = 1
_TOKENS_A_RUBRIC = 10


def estimate_worst(
    parts: Sequence[tuple[Trace, Prompt]],
    *,
    max_tokens: int,
    prices: TokenPrices | None,
    count: CountTokens,
) -> WorstCase:
    """A long reply for each part, and for the longest of them one call more, a second try or a repair.

    Args:
        parts: of the trace, each with its prompt.
        max_tokens: of a reply, before it is doubled.
        prices: None = not known.
        count: tokens of a text.
    """
    prompts = [_count_in(prompt, count=count) for _, prompt in parts]
    replies = [min(max_tokens, _LONG * _foresee_reply(part, prompt, count=count)) for part, prompt in parts]
    shown_again = min(LONGEST_SHOWN_REPLY, max(replies)) + LONGEST_FAULT
    tokens_in = sum(prompts) + max(prompts) + shown_again
    tokens_out = sum(replies) + max(replies)
    cost = None if prices is None else price_tokens(prices, tokens_in=tokens_in, tokens_out=tokens_out)
    return WorstCase(calls=_CALLS_A_PART * len(parts), tokens=tokens_in + tokens_out, cost_usd=cost)


def _count_in(prompt: Prompt, *, count: CountTokens) -> int:
    texts = (prompt.system, prompt.user, json.dumps(build_schema(prompt.keys)))
    return ceil(_MARGIN * sum(count(text) for text in texts)) + _TOKENS_AROUND


def _foresee_reply(part: Trace, prompt: Prompt, *, count: CountTokens) -> int:
    """Tokens of a usual reply; a text that is taken apart into statements comes back in as many words."""
    contexts = [context for context in part.contexts or () if not context.is_blank]
    taken_apart = {
        "st": " ".join(context.content for context in contexts),
        "cl": part.answer,
        "as": part.answer,
        "rs": part.reference.answer if part.reference is not None else None,
    }
    texts = [text for key, text in taken_apart.items() if key in prompt.keys and text]
    return (
        _REPLY_TOKENS
        + _TOKENS_A_CONTEXT * len(contexts)
        + _TOKENS_A_SENTENCE * len(part.sentences)
        + _TOKENS_A_RUBRIC * len(prompt.rubrics)
        + sum(count(text) for text in texts)
    )
