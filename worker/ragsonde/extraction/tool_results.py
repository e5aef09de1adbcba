"""What tools returned to the model: from the steps that ran them, or from the messages it was given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.documents import omit_nulls, unite_delivered
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.extraction.steps import Step


def find_tool_steps(tree: StepTree) -> list[Step]:
    """Tools that recorded what they returned and after which a generation started, in order of time.

    A tool below another one (an agent used as a tool) is a part of that.
    """
    delivering = [
        step for step in tree.steps if step.kind is StepKind.TOOL and omit_nulls(step.documents) is not None
    ]
    if not delivering:
        return []
    covered = tree.below(step for step in delivering if step.documents)
    generations = [step for step in tree.steps if step.kind is StepKind.GENERATION]
    last_start = max((step.start_ns for step in generations), default=0)
    places = {step.id: place for place, step in enumerate(tree.steps)}
    last_place = max((places[step.id] for step in generations), default=-1)
    answering = tree.latest_above(step for step in generations if step.answer.value)
    return [
        step
        for step in delivering
        if step.id not in covered
        and (
            (step.end_ns <= last_start if step.end_ns and last_start else places[step.id] < last_place)
            # a generation around it, one span for a whole loop of calls, went on and answered
            or step.end_ns < answering.get(step.id, 0)
        )
    ]


def find_fallback(tree: StepTree, empty: Sequence[Step]) -> list[Step]:
    """Of those tools the ones that delivered documents while or after retrievals found nothing.

    A tool around such a retrieval, or inside one, tells of that one: it is no other source.

    Args:
        tree: of the record.
        empty: the retrievals, in order of time; each found nothing.
    """
    first = empty[0]
    places = {step.id: place for place, step in enumerate(tree.steps)}
    related = tree.above(empty) | tree.below(empty)
    return [
        step
        for step in find_tool_steps(tree)
        if step.documents
        and step.id not in related
        and (
            step.end_ns > first.start_ns
            if step.end_ns and first.start_ns
            else places[step.id] > places[first.id]
        )
    ]


def is_answered(steps: Sequence[Step]) -> bool:
    """True when a generation started after a tool had returned something."""
    return bool(find_tool_steps(StepTree(steps)))


def find_tool_turns(tree: StepTree) -> Step | None:
    """The final generation with what tools returned since the last question, by its messages."""
    final = tree.final_generation
    if final is None:
        return None
    asked = max((place for place, turn in enumerate(final.turns) if turn.role == "user"), default=-1)
    since = final.turns[asked + 1 :]
    documents = unite_delivered(read_returned(turn.content) for turn in since if turn.role == "tool")
    return None if documents is None else replace(final, documents=documents)
