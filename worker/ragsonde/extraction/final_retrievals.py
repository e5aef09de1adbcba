"""Which of a trace's retrievals reached the final generation: rerankers supersede what they ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.branches import find_last_of_branches
from ragsonde.extraction.delivered_retrievals import lacks_texts
from ragsonde.extraction.steps import StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.delivered_retrievals import Retrieval
    from ragsonde.extraction.step_tree import StepTree

Counted = tuple[list["Retrieval"], tuple[str, ...]]


def choose_final(tree: StepTree, retrievals: list[Retrieval]) -> Counted:
    """The retrievals that count, in order of time, and warnings that say how many do not and why."""
    reached = _find_reached(tree, retrievals)
    chosen, superseded, later = _choose_last(reached)
    reasons = {
        "did not reach the final generation": len(retrievals) - len(reached),
        "are left out: what was ranked after them is judged": superseded,
        "are left out: they came after the last reranker": later,
    }
    return chosen, tuple(
        f"contexts: {count} of {len(retrievals)} retrievals {reason}"
        for reason, count in reasons.items()
        if count
    )


def _choose_last(reached: list[Retrieval]) -> tuple[list[Retrieval], int, int]:
    """The last reranker of each branch, else all retrievers; how many were superseded, how many came later.

    Where a retriever that ranks by itself comes after the last reranker, what was retrieved since then, and
    the rerankers of other branches.
    """
    rerankers = [item for item in reached if item.step.kind is StepKind.RERANKER]
    retrievers = [item for item in reached if item.step.kind is StepKind.RETRIEVER]
    if not rerankers:
        return retrievers, 0, 0
    ended = max(item.step.end_ns for item in rerankers)
    later = [item for item in retrievers if item.step.start_ns > ended]
    is_ranked = any(item.is_ranked for item in later)
    last = find_last_of_branches(rerankers, retrievers, later=[item for item in later if item.is_ranked])
    if any(lacks_texts(item.documents) for item in last) and any(
        not lacks_texts(item.documents) for item in retrievers
    ):
        return retrievers, 0, 0
    superseded = len(rerankers) - len(last)
    return ([*last, *later], superseded, 0) if is_ranked else (last, superseded, len(later))


def _find_reached(tree: StepTree, retrievals: list[Retrieval]) -> list[Retrieval]:
    """Those that started before the final generation (or with it, as far as the clock tells) or inside it.

    Where none did and the application answered something else than that generation said, the final generation
    was not recorded: all of them count.
    """
    final = tree.final_generation
    if final is None or not final.start_ns:
        return retrievals
    within = tree.below([final])
    before = [item for item in retrievals if item.step.start_ns <= final.start_ns or item.step.id in within]
    if before or not retrievals:
        return before
    answered = tree.exit.answer.value if tree.exit is not None else None
    is_its_answer = not answered or answered == final.answer.value
    return [] if is_its_answer else retrievals
