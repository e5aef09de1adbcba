"""Which contexts of a trace are judged: once for all conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.delivered_retrievals import find_retrievals, lacks_texts, list_retrievals
from ragsonde.extraction.findings import Found, FoundContext, cite
from ragsonde.extraction.options import RetrievalChoice
from ragsonde.extraction.prompted_contexts import find_prompted
from ragsonde.extraction.steps import StepKind
from ragsonde.extraction.tool_results import find_fallback, find_tool_steps, find_tool_turns
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from ragsonde.extraction.delivered_retrievals import Retrieval
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde.extraction.step_tree import StepTree
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


def choose_contexts(tree: StepTree, *, options: RetrievalOptions) -> tuple[ChosenContexts, ...]:
    """The contexts that are judged: one choice, or with `per_step` one for each retrieval.

    What reached the final generation: the last reranker's output, else the union of the retrievers in order
    of time. Where none recorded documents, or all that there are none, what tools returned; else what the
    prompt was filled with.
    """
    retrievals, filtered = find_retrievals(tree)
    chosen, warnings = _choose(tree, retrievals, choice=options.retrievals)
    is_per_step = options.retrievals is RetrievalChoice.PER_STEP
    if not chosen:
        chosen = list_retrievals(find_tool_steps(tree))
    elif not any(item.documents for item in chosen):
        tools = find_fallback(tree, [item.step for item in chosen])
        others = list_retrievals(tools, start=len(retrievals))
        chosen = [*chosen, *others] if is_per_step else others or chosen
    if is_per_step and chosen:
        return tuple(
            _gather([item], options=options)._replace(step_id=item.step.id, question=item.step.question)
            for item in chosen
        )
    found = _gather(chosen, options=options) if chosen else _find_elsewhere(tree, options=options)
    return (found._replace(warnings=(*filtered, *warnings, *found.warnings)),)


def _choose(
    tree: StepTree, retrievals: list[Retrieval], *, choice: RetrievalChoice
) -> tuple[list[Retrieval], tuple[str, ...]]:
    """The retrievals that count, and a warning that says how many do not."""
    if choice is not RetrievalChoice.LAST:
        return retrievals, ()
    reached = _find_reached(tree, retrievals)
    chosen, left_out = _choose_last(reached)
    left_out += len(retrievals) - len(reached)
    if not left_out:
        return chosen, ()
    return chosen, (
        f"contexts: {left_out} of {len(retrievals)} retrievals did not reach the final generation",
    )


def _choose_last(reached: list[Retrieval]) -> tuple[list[Retrieval], int]:
    """The last reranker, else all retrievers, and how many others there are that it did not rank.

    Where a retriever that ranks by itself comes after the last reranker, what was retrieved since then.
    """
    rerankers = [item for item in reached if item.step.kind is StepKind.RERANKER]
    retrievers = [item for item in reached if item.step.kind is StepKind.RETRIEVER]
    last = rerankers[-1] if rerankers else None
    if last is None or (
        lacks_texts(last.documents) and any(not lacks_texts(item.documents) for item in retrievers)
    ):
        return retrievers, 0
    later = [item for item in retrievers if item.step.start_ns > last.step.end_ns]
    if any(item.is_ranked for item in later):
        return later, len(rerankers)
    return [last], len(rerankers) - 1 + len(later)


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


def _gather(retrievals: list[Retrieval], *, options: RetrievalOptions) -> ChosenContexts:
    """The documents of some retrievals, equal ones (id and text; of tools the text alone) once."""
    contexts: list[FoundContext] = []
    seen: set[tuple[str | None, str | None]] = set()
    for place, step, documents, _, _ in retrievals:
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
    warnings: list[str] = []
    nulls = sum(item.nulls for item in retrievals)
    if nulls:
        warnings.append(f"contexts: {nulls} null items in the lists of documents are left out")
    lacking = sum(1 for context in contexts if context.content is None)
    if lacking:
        warnings.append(f"contexts: {lacking} of {len(contexts)} documents have no text")
    step = retrievals[0].step
    origin = _ORIGINS.get(step.kind, ContextOrigin.TOOL)
    return ChosenContexts(tuple(contexts), cite(f"{step.convention}:{origin.value}"), tuple(warnings))


def _find_elsewhere(tree: StepTree, *, options: RetrievalOptions) -> ChosenContexts:
    """What stands in the messages of the final generation, or in its prompt."""
    turns = find_tool_turns(tree)
    if turns is not None:
        gathered = _gather(list_retrievals([turns]), options=options)
        return gathered._replace(evidence=cite(f"{turns.convention}:tool_message"))
    prompted = find_prompted(tree)
    return ChosenContexts() if prompted is None else ChosenContexts(*prompted)
