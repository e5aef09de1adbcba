"""What tools returned to the model: from the steps that ran them, or from the messages it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.messages import read_tool_output
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.steps import Step


def find_tool_steps(tree: StepTree) -> list[Step]:
    """Tools that recorded what they returned and after which a generation started, in order of time.

    A tool below another one (an agent used as a tool) is a part of that.
    """
    delivering = [step for step in tree.steps if step.kind is StepKind.TOOL and step.documents is not None]
    if not delivering:
        return []
    covered = tree.below(step for step in delivering if step.documents)
    starts = [
        (step.start_ns, place) for place, step in enumerate(tree.steps) if step.kind is StepKind.GENERATION
    ]
    last_start, last_place = max(starts, default=(0, -1))
    places = {step.id: place for place, step in enumerate(tree.steps)}
    return [
        step
        for step in delivering
        if step.id not in covered
        and (
            (step.end_ns <= last_start if step.end_ns and last_start else places[step.id] < last_place)
            or _is_inside_answering(step, tree)
        )
    ]


def _is_inside_answering(step: Step, tree: StepTree) -> bool:
    """True when a generation around the tool, one span for a whole loop of calls, went on and answered."""
    return any(
        above.kind is StepKind.GENERATION and above.answer.value and step.end_ns < above.end_ns
        for above in tree.ancestors(step)
    )


def is_answered(steps: Sequence[Step]) -> bool:
    """True when a generation started after a tool had returned something."""
    return bool(find_tool_steps(StepTree(steps)))


def find_tool_turns(tree: StepTree) -> tuple[Step, tuple[Document, ...]] | None:
    """What tools returned since the last question, by the messages of the final generation."""
    final = tree.final_generation
    if final is None:
        return None
    asked = max((place for place, turn in enumerate(final.turns) if turn.role == "user"), default=-1)
    results = [turn.content for turn in final.turns[asked + 1 :] if turn.role == "tool"]
    if not results:
        return None
    return final, tuple(document for result in results for document in read_tool_output(result))
