"""What belongs to checks of the application: guardrails and evaluators with all that they do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragsonde.extraction.steps import StepKind, has_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.extraction.forest import Forest
    from ragsonde.extraction.steps import Step

_CHECKS = frozenset({StepKind.CHECK, StepKind.GUARD})
_RETRIEVING = frozenset({StepKind.RETRIEVER, StepKind.RERANKER})


def mark_checks(steps: Sequence[Step], forest: Forest) -> list[Step]:
    """The steps, those inside a check as parts of it, and checks that are runs of the application as such.

    What a guardrail or an evaluator does is a part of the check: its model calls answer nobody, what it
    retrieves reached nobody. A check around the whole of a trace with a retrieval is its run; so are
    guardrails around the model call that answered: no other one stands after the last retrieval.

    Args:
        steps: of one trace, in order of time.
        forest: of their ids.
    """
    checks = {step.id for step in steps if step.kind in _CHECKS}
    if not checks:
        return list(steps)
    known = forest.outermost({step.id for step in steps if step.convention})
    is_whole = len(known) == 1 and any(step.kind in _RETRIEVING for step in steps)
    around = known & checks if is_whole else set[str]()
    around |= _find_guarding(steps, forest, checks=checks - around)
    checking = checks - around
    checking |= forest.below(checking) if checking else set()
    kinds = dict.fromkeys(around, StepKind.OTHER) | dict.fromkeys(checking, StepKind.CHECK)
    return [replace(step, kind=kinds[step.id]) if step.id in kinds else step for step in steps]


def _find_guarding(steps: Sequence[Step], forest: Forest, *, checks: set[str]) -> set[str]:
    """The guardrails around the first model call after the last retrieval that no evaluator is around.

    None where a model call outside checks follows that retrieval, or what stands above said something else.
    """
    inside = forest.below(checks)
    outside = [(place, step) for place, step in enumerate(steps) if step.id not in inside]
    last = max((place for place, step in outside if step.kind in _RETRIEVING), default=None)
    if last is None or any(place > last and step.kind is StepKind.GENERATION for place, step in outside):
        return set()
    judging = {step.id for step in steps if step.kind is StepKind.CHECK}
    guarded = inside - forest.below(judging)
    step = next(
        (step for step in steps[last:] if step.kind is StepKind.GENERATION and step.id in guarded), None
    )
    if step is None:
        return set()
    by_id = {step.id: step for step in steps}
    above = [by_id[node] for node in forest.ancestors(step.id)]
    answers = {
        other.answer.value.strip() for other in above if other.id not in checks and has_text(other.answer)
    }
    if answers and not (has_text(step.answer) and step.answer.value.strip() in answers):
        return set()
    return {other.id for other in above if other.id in checks}
