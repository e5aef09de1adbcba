"""Rerankers beside each other: which of them ranked what another one delivered, and which their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.steps import get_ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.extraction.delivered_retrievals import Retrieval


def find_last_of_branches(
    rerankers: Sequence[Retrieval], retrievers: Sequence[Retrieval], *, later: Sequence[Retrieval] = ()
) -> list[Retrieval]:
    """The rerankers whose output none that came after them ranked, in order of time.

    One that started when another one had ended ranked what that delivered; but not where it is the first to
    rank the documents of a retriever that has none in common with the other one and its retriever.

    Args:
        rerankers: in order of time.
        retrievers: that recorded documents.
        later: those of the retrievers that started after all rerankers and ranked by themselves.
    """
    branches = _find_branches([*rerankers, *retrievers])
    retrieved = {branches[item.place] for item in retrievers}
    ranked_later = {branches[item.place] for item in later}
    last_of = {branches[item.place]: item for item in rerankers}
    ranked_again = {item.place for item in _list_ranking_again(rerankers, branches)}
    over_all = [
        item for item in rerankers if item.place in ranked_again or branches[item.place] not in retrieved
    ]
    kept: list[Retrieval] = []
    for item in rerankers:
        branch = branches[item.place]
        has_own = branch in retrieved
        following = [last_of[branch], *over_all[-1:], *(() if has_own else rerankers[-1:])]
        if any(_follows(other, item) for other in following):
            continue
        if branch not in ranked_later and (has_own or not later):
            kept.append(item)
    return kept


def _follows(other: Retrieval, item: Retrieval) -> bool:
    return other.place > item.place and other.step.start_ns >= get_ending(item.step)[0]


def _list_ranking_again(rerankers: Sequence[Retrieval], branches: dict[int, int]) -> Iterator[Retrieval]:
    """Those that started when one before them had ranked documents of the same branch."""
    ended: dict[int, int] = {}
    for item in rerankers:
        branch, end = branches[item.place], get_ending(item.step)[0]
        if branch in ended and item.step.start_ns >= ended[branch]:
            yield item
        ended[branch] = min(end, ended.get(branch, end))


def _find_branches(items: Sequence[Retrieval]) -> dict[int, int]:
    """By the place of each its branch: those that have a document in common, by id or text, are one."""
    parents = {item.place: item.place for item in items}

    def find(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    owners: dict[tuple[str, str], int] = {}
    for item in items:
        for document in item.documents:
            for kind, name in (("id", document.id), ("text", document.content)):
                if name is not None:
                    parents[find(item.place)] = find(owners.setdefault((kind, name), item.place))
    return {item.place: find(item.place) for item in items}
