"""Which contexts of a trace go into which call, and how much of them.

    all fit within the budget      one call, everything whole
    they fit into more calls       each context whole, the largest first into the first call with room
    they do not                    dealt out evenly, then cut at the ends of sentences

Cutting gives each context its next sentence in turn, to whoever has been shown least, until the next one
would not fit. The first sentence of every context is always shown: what is not shown cannot be judged. Where
even those are too long together, each is cut at a word to an equal share, but never below `LEAST_TOKENS`:
there the budget yields.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from ragsonde.judging.prompt import number_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragsonde_schemas.trace import Context, Trace

CountTokens = Callable[[str], int]

CUT_MARK = " [...]"
LEAST_TOKENS = 16
"""Of a context's first sentence, its number included."""

_TOKENS_OF_MARK = 3


def plan_parts(trace: Trace, *, max_tokens: int, max_calls: int, count: CountTokens) -> tuple[Trace, ...]:
    """The trace as each call shows it: all contexts are in exactly one part, with the numbers they have.

    Args:
        trace: with at least one non-blank context.
        max_tokens: of the contexts' lines in one call.
        max_calls: at most so many parts.
        count: tokens of a text, by the model's tokenizer; not called where the text is surely short enough.
    """
    contexts = [context for context in trace.contexts or () if not context.is_blank]
    if _count_bytes(contexts) <= max_tokens:  # no token is shorter than a byte
        return (trace,)
    sizes = {context.rank: count("\n".join(number_lines(context))) for context in contexts}
    if sum(sizes.values()) <= max_tokens:
        return (trace,)
    groups = _pack_whole(sizes, room=max_tokens, most=max_calls) or _deal(
        sizes, room=max_tokens, most=max_calls
    )
    return tuple(_show(trace, group, sizes=sizes, room=max_tokens, count=count) for group in sorted(groups))


def halve_contexts(trace: Trace, *, count: CountTokens) -> Trace | None:
    """The trace with half the tokens of its contexts, or None where they are as short as they can be."""
    contexts = [context for context in trace.contexts or () if not context.is_blank]
    total = sum(count("\n".join(number_lines(context))) for context in contexts)
    cut = cut_contexts(contexts, room=total // 2, count=count)
    if list(cut) == contexts:
        return None
    return show_contexts(trace, cut)


def cut_contexts(contexts: Sequence[Context], *, room: int, count: CountTokens) -> tuple[Context, ...]:
    """The beginnings of contexts that take `room` tokens together; by rank, every one of them is there."""
    lines = {context.rank: number_lines(context) for context in contexts}
    firsts = {rank: count(given[0]) for rank, given in lines.items()}
    share = None
    if sum(firsts.values()) > room:
        share = max(LEAST_TOKENS, room // len(contexts))
        firsts = {rank: min(cost, share) for rank, cost in firsts.items()}
    shown = dict.fromkeys(lines, 1)
    left = room - sum(firsts.values())
    waiting = [(cost, rank) for rank, cost in firsts.items()]
    heapify(waiting)
    while waiting:
        used, rank = heappop(waiting)
        if shown[rank] == len(lines[rank]):
            continue
        cost = count(lines[rank][shown[rank]])
        if cost <= left:
            shown[rank] += 1
            left -= cost
            heappush(waiting, (used + cost, rank))
    return tuple(
        _cut_first(_keep_sentences(context, shown[context.rank]), share=share, count=count)
        for context in sorted(contexts, key=lambda context: context.rank)
    )


def show_contexts(trace: Trace, contexts: Iterable[Context]) -> Trace:
    """The trace with these contexts in place of its own that are not blank."""
    given = {context.rank: context for context in contexts}
    kept = tuple(
        given.get(context.rank, context)
        for context in trace.contexts or ()
        if context.is_blank or context.rank in given
    )
    shown = trace.model_copy(update={"contexts": kept})
    shown.__dict__.pop("sentences", None)  # a copy inherits what was cached
    return shown


def _count_bytes(contexts: Iterable[Context]) -> int:
    return sum(
        len(line.encode("utf-8", "surrogatepass")) + 1
        for context in contexts
        for line in number_lines(context)
    )


def _pack_whole(sizes: Mapping[int, int], *, room: int, most: int) -> list[list[int]] | None:
    """Ranks in groups of at most `room`, or None where `most` groups do not hold them."""
    groups: list[list[int]] = []
    for rank in sorted(sizes, key=lambda rank: -sizes[rank]):
        for group in groups:
            if sizes[rank] + sum(sizes[other] for other in group) <= room:
                group.append(rank)
                break
        else:
            if len(groups) == most or sizes[rank] > room:
                return None
            groups.append([rank])
    return [sorted(group) for group in groups]


def _deal(sizes: Mapping[int, int], *, room: int, most: int) -> list[list[int]]:
    """Ranks in groups of about the same size; what exceeds a call's room does not count."""
    capped = {rank: min(size, room) for rank, size in sizes.items()}
    groups: list[list[int]] = [[] for _ in range(min(most, len(sizes)))]
    for rank in sorted(capped, key=lambda rank: -capped[rank]):
        emptiest = min(groups, key=lambda group: sum(capped[other] for other in group))
        emptiest.append(rank)
    return [sorted(group) for group in groups]


def _show(
    trace: Trace, group: Sequence[int], *, sizes: Mapping[int, int], room: int, count: CountTokens
) -> Trace:
    contexts = [context for context in trace.contexts or () if context.rank in group]
    if sum(sizes[rank] for rank in group) <= room:
        return show_contexts(trace, contexts)
    return show_contexts(trace, cut_contexts(contexts, room=room, count=count))


def _keep_sentences(context: Context, most: int) -> Context:
    if most >= len(context.sentences):
        return context
    return context.model_copy(update={"sentences": context.sentences[:most]})


def _cut_first(context: Context, *, share: int | None, count: CountTokens) -> Context:
    """The context with its first sentence, or its text where it has no sentences, cut to a share."""
    if share is None or count(number_lines(context)[0]) <= share:
        return context
    if not context.sentences:
        return context.model_copy(update={"content": cut_text(context.content, most=share, count=count)})
    first = context.sentences[0]
    room = share - count(f"{first.number} ")
    text = cut_text(first.text, most=room, count=count)
    shortened = first.model_copy(update={"text": text})
    return context.model_copy(update={"sentences": (shortened, *context.sentences[1:])})


def cut_text(text: str, *, most: int, count: CountTokens) -> str:
    """The beginning of a text that takes about `most` tokens, cut at a word if it has any, and a mark."""
    room = max(1, most - _TOKENS_OF_MARK)
    length = bisect_right(range(1, len(text)), room, key=lambda end: count(text[:end])) or 1
    kept = text[:length]
    at_word = kept.rpartition(" ")[0] if not text[length : length + 1].isspace() else kept
    return (at_word.rstrip() or kept) + CUT_MARK
