"""Contexts that only the prompt shows: as one text each, with a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.findings import FoundContext, cite
from ragsonde.extraction.prompt_sections import find_section_given
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.extraction.step_tree import StepTree
    from ragsonde.extraction.steps import Step
    from ragsonde_schemas.trace import FieldEvidence

_WARNING = "contexts: no span recorded documents; read from the prompt as one text"
_UNKNOWN = (
    "contexts: retrieval ran, but no span recorded documents and the prompt marks none: unknown. Have the"
    " retriever's span record its documents, or map `contexts`"
)
_RETRIEVING = frozenset({StepKind.RETRIEVER, StepKind.RERANKER})


def find_prompted(
    tree: StepTree,
) -> tuple[tuple[FoundContext, ...] | None, FieldEvidence | None, tuple[str, ...]] | None:
    """What the final generation's prompt was filled with as context, else the section that its turns mark.

    A section counts only where a retrieval ran: without one it is no more than instructions. A message that
    marks none is never taken whole. Where retrieval ran, recorded nothing and no section is found, contexts
    are None with a warning; where none ran, nothing is found at all.
    """
    for step in _list_prompting(tree):
        if step.prompted:
            contexts = tuple(FoundContext(text, ContextOrigin.PROMPT) for text in step.prompted)
            return contexts, cite(f"{step.convention}:prompt_variables", is_exact=False), (_WARNING,)
    retrievals = [step for step in tree.steps if step.kind in _RETRIEVING]
    if not retrievals:
        return None
    final = tree.final_generation
    section = None if final is None else find_section_given(final.turns)
    if final is not None and section is not None:
        evidence = cite(f"{final.convention}:{section.role}_message", is_exact=False)
        return (FoundContext(section.text, ContextOrigin.PROMPT),), evidence, (_WARNING,)
    if any(step.documents is not None for step in retrievals):
        return None
    return None, None, (_UNKNOWN,)


def _list_prompting(tree: StepTree) -> Iterator[Step]:
    """The final generation, those around it, then what came before it, the last first.

    Later steps were filled for something else: a title, a check of the answer.
    """
    final = tree.final_generation
    before = tree.steps
    if final is not None:
        yield final
        yield from tree.ancestors(final)
        before = before[: before.index(final)]
    yield from (step for step in reversed(before) if step.kind is not StepKind.CHECK)
