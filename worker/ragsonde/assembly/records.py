"""Records from the spans of one trace: one for each root turn, whatever is missing or came twice."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.span_findings import read_steps
from ragsonde.extraction.span_tree import SpanTree, get_place
from ragsonde.extraction.steps import Step, StepKind
from ragsonde.extraction.tool_results import is_answered
from ragsonde_schemas.decoded import WholeTrace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde_schemas.span import Span

_RETRIEVALS = frozenset({StepKind.RETRIEVER, StepKind.RERANKER})


class _Turn(NamedTuple):
    """Spans that belong together: those below one root, and what else was found to be a part of it."""

    root: Span
    spans: list[Span]


def gather_records(
    spans: Sequence[Span], *, format_name: str, warnings: tuple[str, ...] = ()
) -> tuple[WholeTrace, ...]:
    """The records of one trace: a root with everything below it, for each root that is a turn.

    A span whose parent never came is a part of the root within whose time it started, else of the first one;
    where no root came at all, spans that lack the same parent are a turn, under the earliest of them. Spans
    without any generation or answer, such as a retrieval under a root of its own, are a part of the turn that
    follows. The first turn's record key is '', every other one's is its root's span id.

    Args:
        spans: of one trace, in any order, any of them more than once; none gives no record.
        format_name: the format they came in.
        warnings: what was mended in them; told with every record.
    """
    turns = _join_parts(_find_turns(SpanTree(spans)))
    return tuple(
        WholeTrace(
            format=format_name,
            root=turn.root,
            spans=tuple(sorted(turn.spans, key=get_place)),
            record_key=turn.root.span_id if place else "",
            warnings=warnings,
        )
        for place, turn in enumerate(turns)
    )


def is_whole(spans: Sequence[Span]) -> bool:
    """True when nothing is waited for: each turn has its root and its retrieval, no parent is missing.

    A tool's result is a retrieval when a generation started after it.
    """
    tree = SpanTree(spans)
    if not tree.roots or tree.orphans or tree.loops:
        return False
    return all(_has_retrieval(turn.spans) for turn in _join_parts(_find_turns(tree)))


def _has_retrieval(spans: Iterable[Span]) -> bool:
    steps: list[Step] = []
    for span in spans:
        steps += read_steps([span])
        if steps[-1].kind in _RETRIEVALS:
            return True
    return is_answered(steps)


def _find_turns(tree: SpanTree) -> list[_Turn]:
    """The trees of the trace under their roots, in order of the roots' start."""
    turns = {root.span_id: _Turn(root, []) for root in tree.roots}
    ends = list(accumulate((root.end_ns for root in tree.roots), max))
    for top, members in tree.list_trees():
        if top.span_id in turns:
            key = top.span_id
        elif tree.roots:
            key = _find_owner(top, tree.roots, ends=ends).span_id
        else:
            key = f"below {top.parent_span_id}"
            turns.setdefault(key, _Turn(top, []))
        turns[key].spans.extend(members)
    return sorted(turns.values(), key=lambda turn: (turn.root.start_ns, turn.root.span_id))


def _find_owner(orphan: Span, roots: Sequence[Span], *, ends: Sequence[int]) -> Span:
    """The first root within whose time `orphan` started, else the first of all.

    Args:
        orphan: the topmost span of a tree whose parent is missing.
        roots: in order of start.
        ends: for each root the latest end of it and those before it.
    """
    place = bisect_left(ends, orphan.start_ns)
    is_within = place < len(roots) and roots[place].start_ns <= orphan.start_ns
    return roots[place] if is_within else roots[0]


def _join_parts(turns: list[_Turn]) -> list[_Turn]:
    """Turns, each with the parts before it, or at the very end, that hold no generation and no answer."""
    if len(turns) <= 1:
        return turns
    joined: list[_Turn] = []
    parts: list[Span] = []
    for turn in turns:
        if _is_turn(turn.spans):
            joined.append(_Turn(turn.root, [*parts, *turn.spans]))
            parts = []
        else:
            parts.extend(turn.spans)
    if joined:
        joined[-1].spans.extend(parts)
        return joined
    return [_Turn(turns[0].root, parts)]


def _is_turn(spans: Iterable[Span]) -> bool:
    steps = (step for span in spans for step in read_steps([span]))
    return any(step.kind is StepKind.GENERATION or step.answer.value for step in steps)
