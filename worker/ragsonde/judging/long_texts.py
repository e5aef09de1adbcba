"""Texts beside the contexts that are too long for a judge: their beginning and their end are shown."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde.judging.token_budget import CountTokens
    from ragsonde_schemas.trace import Trace

MIDDLE_MARK = " [...] "

_MOST_CHARACTERS_A_TOKEN = 12
"""Longer texts are cut to this many characters a token before anything is counted."""


def shorten_texts(trace: Trace, *, max_tokens: int, count: CountTokens) -> tuple[Trace, tuple[str, ...]]:
    """The trace with question, search query, answer, reference and turns of at most `max_tokens` each.

    Returns:
        The trace, and the names of the texts that were cut in the middle.
    """
    changed: dict[str, object] = {}
    for name in ("query", "retrieval_query", "answer"):
        text = getattr(trace, name)
        if text is not None and (shorter := cut_middle(text, most=max_tokens, count=count)) != text:
            changed[name] = shorter
    if trace.reference is not None and trace.reference.answer is not None:
        text = trace.reference.answer
        if (shorter := cut_middle(text, most=max_tokens, count=count)) != text:
            changed["reference"] = trace.reference.model_copy(update={"answer": shorter})
    turns = tuple(
        turn.model_copy(update={"content": cut_middle(turn.content, most=max_tokens, count=count)})
        for turn in trace.turns
    )
    if turns != trace.turns:
        changed["turns"] = turns
    return (trace.model_copy(update=changed) if changed else trace), tuple(changed)


def cut_middle(text: str, *, most: int, count: CountTokens) -> str:
    """The text, or as much of its beginning and its end as `most` tokens hold, with a mark between them."""
    if len(text.encode("utf-8", "surrogatepass")) <= most:  # no token is shorter than a byte
        return text
    longest = most * _MOST_CHARACTERS_A_TOKEN
    if len(text) <= longest and count(text) <= most:
        return text
    lengths = range(1, min(len(text), longest))
    kept = bisect_right(lengths, most, key=lambda length: count(_join_ends(text, length)))
    return _join_ends(text, kept)


def _join_ends(text: str, length: int) -> str:
    """So many characters of it, rounded down to words where its ends have any."""
    head, tail = text[: (length + 1) // 2], text[len(text) - length // 2 :]
    head = head.rpartition(" ")[0] or head
    tail = tail.partition(" ")[2] or tail
    return head.rstrip() + MIDDLE_MARK + tail.lstrip()
