"""What the retrievals of a trace delivered: of those inside each other only what the outer one passed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.documents import omit_nulls
from ragsonde.extraction.steps import StepKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.step_tree import StepTree
    from ragsonde.extraction.steps import Step


class Retrieval(NamedTuple):
    """A retriever, reranker or tool that counts.

    Attributes:
        place: among all that count, in order of time.
        documents: that it delivered; () = it delivered that there are none.
        nulls: how many items of its list were `null` in a document's place.
        is_ranked: it is a retriever that passed on what a reranker inside it delivered.
    """

    place: int
    step: Step
    documents: tuple[Document, ...]
    nulls: int = 0
    is_ranked: bool = False


def find_retrievals(tree: StepTree) -> tuple[list[Retrieval], tuple[str, ...]]:
    """Retrievers and rerankers that recorded what they delivered, in order of time, and a warning.

    One below another of its kind that carries documents is a part of that, and so is a reranker below a
    retriever (a compression) that ended later. One that ended later and recorded that there are none filtered
    all of them away: that is warned of.
    """
    delivering = [
        step
        for step in tree.steps
        if step.kind in {StepKind.RETRIEVER, StepKind.RERANKER} and omit_nulls(step.documents) is not None
    ]
    texts = _gather_texts(delivering)
    by_kind = {
        kind: [step for step in delivering if step.kind is kind]
        for kind in (StepKind.RETRIEVER, StepKind.RERANKER)
    }
    carrying = {
        kind: [step for step in steps if _has_text(step, texts=texts)] for kind, steps in by_kind.items()
    }
    covered: set[str] = set()
    for steps in by_kind.values():
        parts = tree.below(step for step in steps if omit_nulls(step.documents))
        covered.update(step.id for step in steps if step.id in parts)
    ranked = _find_ended_inside(tree, carrying[StepKind.RETRIEVER], by_kind[StepKind.RERANKER])
    filtered = set[str]()
    for kind, inside in ((StepKind.RETRIEVER, delivering), (StepKind.RERANKER, by_kind[StepKind.RERANKER])):
        empty = [step for step in by_kind[kind] if not step.documents]
        filtered |= _find_ended_inside(tree, empty, [step for step in inside if step.documents])
    left_out = covered | ranked | filtered
    kept = [step for step in delivering if step.id not in left_out]
    around = tree.above(step for step in delivering if step.id in ranked)
    retrievals = [
        item._replace(documents=_restore(item.documents, texts=texts), is_ranked=item.step.id in around)
        for item in list_retrievals(kept)
    ]
    above = tree.above(step for step in delivering if step.id in filtered)
    count = sum(1 for step in kept if not step.documents and step.id in above)
    return retrievals, (f"contexts: {count} retrievals passed on nothing of what was found inside them",) if (
        count
    ) else ()


def list_retrievals(steps: Sequence[Step], *, start: int = 0) -> list[Retrieval]:
    """Steps as retrievals, numbered from `start`."""
    return [
        Retrieval(place, step, documents, len(step.documents or ()) - len(documents))
        for place, step in enumerate(steps, start)
        for documents in (omit_nulls(step.documents) or (),)
    ]


def lacks_texts(documents: tuple[Document, ...]) -> bool:
    """True for documents none of which has a text."""
    return bool(documents) and all(document.content is None for document in documents)


def _find_ended_inside(tree: StepTree, outer: Sequence[Step], inside: Iterable[Step]) -> set[str]:
    """The ids of those of `inside` that are below one of `outer` and ended no later than that."""
    if not outer:
        return set()
    latest = tree.latest_above(outer)
    return {step.id for step in inside if step.id in latest and step.end_ns <= latest[step.id]}


def _gather_texts(steps: Sequence[Step]) -> dict[str, str]:
    return {
        document.id: document.content
        for step in steps
        for document in step.documents or ()
        if document.id is not None and document.content is not None
    }


def _has_text(step: Step, *, texts: dict[str, str]) -> bool:
    documents = omit_nulls(step.documents) or ()
    return bool(documents) and not lacks_texts(_restore(documents, texts=texts))


def _restore(documents: tuple[Document, ...], *, texts: dict[str, str]) -> tuple[Document, ...]:
    """The documents with texts that were left out (by a reranker) taken from those of the same ids."""
    return tuple(
        document._replace(content=texts.get(document.id or "")) if document.content is None else document
        for document in documents
    )
