"""Which contexts of a trace are judged: once for all conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.findings import Found, FoundContext, cite
from ragsonde.extraction.options import RetrievalChoice
from ragsonde.extraction.prompted_contexts import find_prompted
from ragsonde.extraction.steps import StepKind
from ragsonde.extraction.tool_results import find_tool_steps, find_tool_turns
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde.extraction.step_tree import StepTree
    from ragsonde.extraction.steps import Step
    from ragsonde_schemas.trace import FieldEvidence

_ORIGINS = {
    StepKind.RETRIEVER: ContextOrigin.RETRIEVER,
    StepKind.RERANKER: ContextOrigin.RERANKER,
    StepKind.TOOL: ContextOrigin.TOOL,
}


class ChosenContexts(NamedTuple):
    """The contexts of one record and the rule that found them.

    Attributes:
        contexts: None = unknown, () = retrieval returned nothing.
        step_id, question: of the one retrieval that they come from, where each is a record of its own.
    """

    contexts: tuple[FoundContext, ...] | None = None
    evidence: FieldEvidence | None = None
    warnings: tuple[str, ...] = ()
    step_id: str = ""
    question: Found = Found()


class _Retrieval(NamedTuple):
    """An outermost retrieval and its place among all of them in order of time."""

    place: int
    step: Step
    documents: tuple[Document, ...]


def choose_contexts(tree: StepTree, *, options: RetrievalOptions) -> tuple[ChosenContexts, ...]:
    """The contexts that are judged: one choice, or with `per_step` one for each retrieval.

    What reached the final generation: the last reranker's output, else the union of the retrievers in order
    of time. Where none recorded documents, what tools returned; else what the prompt was filled with. A
    retrieval below another one of its kind that carries documents is a part of that.
    """
    retrievals = _find_retrievals(tree)
    chosen, warnings = _choose(tree, retrievals, choice=options.retrievals)
    if not chosen:
        chosen = _list_retrievals(find_tool_steps(tree))
    if options.retrievals is RetrievalChoice.PER_STEP and chosen:
        return tuple(
            _gather([item], options=options)._replace(step_id=item.step.id, question=item.step.question)
            for item in chosen
        )
    found = _gather(chosen, options=options) if chosen else _find_elsewhere(tree, options=options)
    return (found._replace(warnings=(*warnings, *found.warnings)),)


def _find_retrievals(tree: StepTree) -> list[_Retrieval]:
    """Retrievers and rerankers that recorded what they delivered, in order of time."""
    kept: set[str] = set()
    for kind in (StepKind.RETRIEVER, StepKind.RERANKER):
        delivering = [step for step in tree.steps if step.kind is kind and step.documents is not None]
        covered = tree.below(step for step in delivering if step.documents)
        kept.update(step.id for step in delivering if step.id not in covered)
    return _list_retrievals([step for step in tree.steps if step.id in kept])


def _list_retrievals(steps: Sequence[Step]) -> list[_Retrieval]:
    return [_Retrieval(place, step, step.documents or ()) for place, step in enumerate(steps)]


def _choose(
    tree: StepTree, retrievals: list[_Retrieval], *, choice: RetrievalChoice
) -> tuple[list[_Retrieval], tuple[str, ...]]:
    """The retrievals that count, and a warning that says how many do not."""
    if choice is not RetrievalChoice.LAST:
        return _restore_texts(retrievals), ()
    reached = _find_reached(tree, retrievals)
    known = _restore_texts(reached)
    rerankers = [item for item in known if item.step.kind is StepKind.RERANKER]
    retrievers = [item for item in known if item.step.kind is StepKind.RETRIEVER]
    last = rerankers[-1] if rerankers else None
    if last is None or (_lacks_texts(last) and any(not _lacks_texts(item) for item in retrievers)):
        chosen, left_out = retrievers, 0
    else:
        ended = last.step.end_ns
        chosen, left_out = [last], len(rerankers) - 1
        left_out += sum(1 for item in retrievers if item.step.start_ns > ended)
    left_out += len(retrievals) - len(reached)
    if not left_out:
        return chosen, ()
    return chosen, (
        f"contexts: {left_out} of {len(retrievals)} retrievals did not reach the final generation",
    )


def _find_reached(tree: StepTree, retrievals: list[_Retrieval]) -> list[_Retrieval]:
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
    answered = tree.entry.answer.value if tree.entry is not None else None
    is_its_answer = not answered or answered == final.answer.value
    return [] if is_its_answer else retrievals


def _lacks_texts(item: _Retrieval) -> bool:
    return bool(item.documents) and all(document.content is None for document in item.documents)


def _restore_texts(retrievals: list[_Retrieval]) -> list[_Retrieval]:
    """Texts that a reranker left out, taken from the documents of the same ids that were retrieved."""
    texts = {
        document.id: document.content
        for item in retrievals
        for document in item.documents
        if document.id is not None and document.content is not None
    }
    return [
        item._replace(
            documents=tuple(
                document._replace(content=texts.get(document.id or ""))
                if document.content is None
                else document
                for document in item.documents
            )
        )
        for item in retrievals
    ]


def _gather(retrievals: list[_Retrieval], *, options: RetrievalOptions) -> ChosenContexts:
    """The documents of some retrievals, equal ones (id and text; of tools the text alone) once."""
    contexts: list[FoundContext] = []
    seen: set[tuple[str | None, str | None]] = set()
    for place, step, documents in retrievals:
        origin = _ORIGINS.get(step.kind, ContextOrigin.TOOL)
        for content, name, score, metadata in documents:
            is_known_by_text = origin is ContextOrigin.TOOL and content is not None
            key = (None if is_known_by_text else name, content)
            is_blank = not (content or "").strip() and (content is not None or name is None)
            if options.deduplicate and not is_blank and key in seen:
                continue
            seen.add(key)
            contexts.append(
                FoundContext(content, origin, id=name, score=score, metadata=metadata, retrieval_step=place)
            )
    lacking = sum(1 for context in contexts if context.content is None)
    warnings = (f"contexts: {lacking} of {len(contexts)} documents have no text",) if lacking else ()
    step = retrievals[0].step
    origin = _ORIGINS.get(step.kind, ContextOrigin.TOOL)
    return ChosenContexts(tuple(contexts), cite(f"{step.convention}:{origin.value}"), warnings)


def _find_elsewhere(tree: StepTree, *, options: RetrievalOptions) -> ChosenContexts:
    """What stands in the messages of the final generation, or in its prompt."""
    turns = find_tool_turns(tree)
    if turns is not None:
        step, documents = turns
        gathered = _gather([_Retrieval(0, step, documents)], options=options)
        return gathered._replace(evidence=cite(f"{step.convention}:tool_message"))
    prompted = find_prompted(tree)
    return ChosenContexts() if prompted is None else ChosenContexts(*prompted)
