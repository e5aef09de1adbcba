"""Contexts that only the prompt shows: as one text each, with a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.findings import FoundContext, cite
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from ragsonde.extraction.step_tree import StepTree
    from ragsonde_schemas.trace import FieldEvidence

_WARNING = "contexts: no span recorded documents; read from the prompt as one text"


def find_prompted(
    tree: StepTree,
) -> tuple[tuple[FoundContext, ...], FieldEvidence, tuple[str, ...]] | None:
    """What the prompt's template was filled with as context, else the system message of the last generation.

    A system message counts only where a retrieval ran that did not record what it delivered: without one it
    is no more than instructions.
    """
    for step in reversed(tree.steps):
        if step.prompted:
            contexts = tuple(FoundContext(text, ContextOrigin.PROMPT) for text in step.prompted)
            return contexts, cite(f"{step.convention}:prompt_variables", is_exact=False), (_WARNING,)
    if not any(step.kind in {StepKind.RETRIEVER, StepKind.RERANKER} for step in tree.steps):
        return None
    for step in reversed(tree.steps):
        system = next((turn.content for turn in step.turns if turn.role == "system"), None)
        if system is not None:
            contexts = (FoundContext(system, ContextOrigin.PROMPT),)
            return contexts, cite(f"{step.convention}:system_message", is_exact=False), (_WARNING,)
    return None
