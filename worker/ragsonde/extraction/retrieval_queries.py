"""What the retrievals that are judged were asked, where it is one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.findings import Found
from ragsonde.extraction.steps import StepKind, has_text, name_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.extraction.step_tree import StepTree
    from ragsonde.extraction.steps import Step

_PLACES = {StepKind.RETRIEVER: "retriever_input", StepKind.RERANKER: "reranker_query"}


def find_retrieval_query(tree: StepTree, judged: Sequence[Step]) -> Found:
    """The text that all of them were asked; nothing where they were asked several, or recorded none.

    A reranker that recorded no question counts with those of the retrievers before it. Where nothing that a
    step recorded is judged (the prompt shows it, or nothing does), the retrievers before the final generation
    count.

    Args:
        tree: of the record.
        judged: the retrievals and tools whose documents are judged.
    """
    asked = {
        step.question.value.strip(): step for step in _list_asked(tree, judged) if has_text(step.question)
    }
    if len(asked) != 1:
        return Found()
    (step,) = asked.values()
    return name_finding(step.question, step, _PLACES[step.kind])


def _list_asked(tree: StepTree, judged: Sequence[Step]) -> Iterator[Step]:
    if not judged:
        yield from _list_retrievers(tree, before=tree.final_generation)
    for step in judged:
        if step.kind is StepKind.RERANKER and not has_text(step.question):
            yield from _list_retrievers(tree, before=step)
        elif step.kind in _PLACES:
            yield step


def _list_retrievers(tree: StepTree, *, before: Step | None) -> list[Step]:
    return [
        step
        for step in tree.outermost(step for step in tree.steps if step.kind is StepKind.RETRIEVER)
        if before is None or step.start_ns <= before.start_ns
    ]
