"""Records from the spans of one trace: one for each root turn, whatever is missing or came twice."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.span_findings import read_steps
from ragsonde.extraction.span_tree import SpanTree, get_place
from ragsonde.extraction.steps import Step, StepKind
from ragsonde.extraction.tool_results import is_answered
from ragsonde_schemas.decoded import WholeTrace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragsonde_schemas.span import Span

_RETRIEVALS = frozenset({StepKind.RETRIEVER, StepKind.RERANKER})


class _Turn(NamedTuple):
    """Spans that belong together: those below one root, and what else was found to be a part of it.

    Attributes:
        end_ns: what started before it and not before the root, did so within the turn's time.
    """

    root: Span
    end_ns: int
    spans: list[Span]


def gather_records(
    spans: Sequence[Span],
    *,
    format_name: str,
    warnings: tuple[str, ...] = (),
    known_turns: Mapping[str, str] | None = None,
) -> tuple[WholeTrace, ...]:
    """The records of one trace: a root with everything below it, for each root that is a turn.

    A turn has a generation or an answer. What has none, such as a retrieval under a root of its own, and a
    span whose parent never came, is a part of the turn within whose time it started, else of the next one,
    else of the last. But spans that lack the same parent are a turn of their own, under the earliest of them,
    when they started after the end of every root, or where there is none.

    A turn that holds a known span keeps the key that was given for it, '' before all others where it holds
    several. Of new turns the first has the key '' unless that is given already, the others their root's id.

    Args:
        spans: of one trace, in any order, any of them more than once; none gives no record.
        format_name: the format they came in.
        warnings: what was mended in them; told with every record.
        known_turns: the keys of turns that are stored, by the ids of the spans that were their roots then.
    """
    turns = _find_turns(SpanTree(spans))
    return tuple(
        WholeTrace(
            format=format_name,
            root=turn.root,
            spans=tuple(sorted(turn.spans, key=get_place)),
            record_key=key,
            warnings=warnings,
        )
        for turn, key in zip(turns, _name_turns(turns, known_turns or {}), strict=True)
    )


def is_whole(spans: Sequence[Span]) -> bool:
    """True when nothing is waited for: each turn has its root and its retrieval, no parent is missing.

    A tool's result is a retrieval when a generation started after it.
    """
    tree = SpanTree(spans)
    if not tree.roots or tree.orphans or tree.loops:
        return False
    return all(_has_retrieval(turn.spans) for turn in _find_turns(tree))


def _has_retrieval(spans: Iterable[Span]) -> bool:
    steps: list[Step] = []
    for span in spans:
        steps += read_steps([span])
        if steps[-1].kind in _RETRIEVALS:
            return True
    return is_answered(steps)


def _name_turns(turns: Sequence[_Turn], known: Mapping[str, str]) -> list[str]:
    places = {span.span_id: place for place, turn in enumerate(turns) for span in turn.spans} if known else {}
    held: dict[int, list[str]] = {}
    for span_id, key in known.items():
        if span_id in places:
            held.setdefault(places[span_id], []).append(key)
    new = [place for place in range(len(turns)) if place not in held]
    named = {place: turns[place].root.span_id for place in new}
    if new and "" not in known.values():
        named[new[0]] = ""
    return [named[place] if place in named else min(held[place]) for place in range(len(turns))]


def _find_turns(tree: SpanTree) -> list[_Turn]:
    """The turns of the trace in order of their roots' start, each with its parts."""
    rooted, loose = _find_trees(tree)
    late: dict[str | None, _Turn] = {}
    parts: list[_Turn] = []
    last_end = max((turn.end_ns for turn in rooted), default=None)
    for orphan in loose:
        if last_end is not None and orphan.root.start_ns <= last_end:
            parts.append(orphan)
            continue
        siblings = late.get(orphan.root.parent_span_id, orphan._replace(spans=[]))
        siblings.spans.extend(orphan.spans)
        late[orphan.root.parent_span_id] = siblings._replace(end_ns=max(siblings.end_ns, orphan.end_ns))
    turns: list[_Turn] = []
    for tree_or_group in (*rooted, *late.values()):
        (turns if _is_turn(tree_or_group.spans) else parts).append(tree_or_group)
    turns.sort(key=_get_start)
    parts.sort(key=_get_start)
    return _join_parts(turns, parts)


def _find_trees(tree: SpanTree) -> tuple[list[_Turn], list[_Turn]]:
    """The trees under roots, each with the orphans within its time, and the orphans within no root's time."""
    trees = [_Turn(top, max(top.end_ns, top.start_ns), members) for top, members in tree.list_trees()]
    names = {root.span_id for root in tree.roots}
    rooted = sorted((one for one in trees if one.root.span_id in names), key=_get_start)
    loose: list[_Turn] = []
    orphans = [one for one in trees if one.root.span_id not in names]
    for orphan, (place, is_within) in zip(orphans, _find_owners(orphans, rooted), strict=True):
        if is_within:
            rooted[place].spans.extend(orphan.spans)
        else:
            loose.append(orphan)
    return rooted, loose


def _find_owners(parts: Sequence[_Turn], turns: Sequence[_Turn]) -> list[tuple[int, bool]]:
    """For each part the place of the turn that it belongs to, and whether it started within that one's time.

    That is the first within whose time it started, else the next, else the last. A turn that took no time
    holds the moment of its start.

    Args:
        parts: any.
        turns: in order of start.
    """
    ends = list(accumulate((max(turn.end_ns, turn.root.start_ns + 1) for turn in turns), max))
    owners: list[tuple[int, bool]] = []
    for part in parts:
        place = bisect_right(ends, part.root.start_ns)
        is_within = place < len(turns) and turns[place].root.start_ns <= part.root.start_ns
        owners.append((min(place, len(turns) - 1), is_within))
    return owners


def _join_parts(turns: Sequence[_Turn], parts: Sequence[_Turn]) -> list[_Turn]:
    """Turns with their parts; where there is no turn, all parts as one under the first root among them.

    A part without a parent is the root of a turn that has none.
    """
    if not turns:
        return [_merge(parts[0], parts[1:])] if parts else []
    owned: dict[int, list[_Turn]] = {}
    for part, (place, _) in zip(parts, _find_owners(parts, turns), strict=True):
        owned.setdefault(place, []).append(part)
    joined = [_merge(turn, owned.get(place, ())) for place, turn in enumerate(turns)]
    return sorted(joined, key=_get_start)


def _merge(turn: _Turn, parts: Sequence[_Turn]) -> _Turn:
    root = turn.root
    if root.parent_span_id is not None:
        root = next((part.root for part in parts if part.root.parent_span_id is None), root)
    return _Turn(root, turn.end_ns, [span for one in (turn, *parts) for span in one.spans])


def _get_start(turn: _Turn) -> tuple[int, str]:
    return turn.root.start_ns, turn.root.span_id


def _is_turn(spans: Iterable[Span]) -> bool:
    steps = (step for span in spans for step in read_steps([span]))
    return any(step.kind is StepKind.GENERATION or step.answer.value for step in steps)
