"""Which contexts of a trace are judged: once for all conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.delivered_retrievals import find_retrievals, list_retrievals
from ragsonde.extraction.final_retrievals import choose_final
from ragsonde.extraction.findings import Found, FoundContext, cite
from ragsonde.extraction.options import RetrievalChoice
from ragsonde.extraction.prompted_contexts import find_prompted
from ragsonde.extraction.retrieval_queries import find_retrieval_query
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
        step_id: of the one retrieval that they come from, where each is a record of its own.
        question: what they were retrieved for, where it is one text.
    """

    contexts: tuple[FoundContext, ...] | None = None
    evidence: FieldEvidence | None = None
    warnings: tuple[str, ...] = ()
    step_id: str = ""
    question: Found = Found()


def choose_contexts(tree: StepTree, *, options: RetrievalOptions) -> tuple[ChosenContexts, ...]:
    """The contexts that are judged: one choice, or with `per_step` one for each retrieval.

    What reached the final generation: the last reranker's output (of rerankers beside each other that of
    each), else the union of the retrievers in order of time. Where none recorded documents, or all that there
    are none, what tools returned; else what the prompt was filled with.
    """
    retrievals, filtered = find_retrievals(tree)
    is_last = options.retrievals is RetrievalChoice.LAST
    chosen, warnings = choose_final(tree, retrievals) if is_last else (retrievals, ())
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
    question = find_retrieval_query(tree, [item.step for item in chosen])
    return (found._replace(question=question, warnings=(*filtered, *warnings, *found.warnings)),)


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
