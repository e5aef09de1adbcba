"""The steps of one trace as a tree, in order of time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ragsonde.extraction.forest import Forest
from ragsonde.extraction.steps import StepKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragsonde.extraction.steps import Step


class StepTree:
    """The steps of one trace; a step without a convention is only there for those above and below it.

    Attributes:
        steps: in order of start, then end, then as given; of steps with equal ids the last one given.
        roots: steps that name no parent.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        ordered = sorted({step.id: step for step in steps}.values(), key=_get_times)
        self.steps = tuple(ordered)
        self.roots = tuple(step for step in self.steps if step.parent_id is None)
        self._by_id = {step.id: step for step in ordered}
        self._forest = Forest({step.id: step.parent_id for step in ordered})

    def ancestors(self, step: Step) -> Iterator[Step]:
        """The steps above `step`, nearest first, up to a root, a missing parent or the cut of a circle."""
        return (self._by_id[node] for node in self._forest.ancestors(step.id))

    def outermost(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        """Those of `steps` that have none of them above, in order of time."""
        ids = self._forest.outermost({step.id for step in steps})
        return tuple(step for step in self.steps if step.id in ids)

    def below(self, steps: Iterable[Step]) -> set[str]:
        """The ids of all steps that have one of `steps` above them."""
        return self._forest.below({step.id for step in steps})

    def above(self, steps: Iterable[Step]) -> set[str]:
        """The ids of all steps that have one of `steps` below them."""
        return self._forest.above({step.id for step in steps})

    def latest_above(self, steps: Iterable[Step]) -> dict[str, int]:
        """By the id of each step that has any of `steps` above it, when the last of those ended."""
        return self._forest.greatest_above({step.id: step.end_ns for step in steps})

    @cached_property
    def entry(self) -> Step | None:
        """The application's own root: the one marked so, else the outermost step that a convention knows.

        Of several outermost ones (a web framework's span above them is no step of the application) the first
        that is no single retrieval, tool or generation; one with question and answer goes before others.
        """
        marked = next((step for step in self.steps if step.is_entry), None)
        return next(iter([*([marked] if marked else []), *self._runs, *self._wholes, *self._outermost]), None)

    @cached_property
    def exit(self) -> Step | None:
        """The step that says what the application answered: the entry, or the last of several runs.

        Runs that follow each other under a plain span (a rewrite of the question, then the answer) begin with
        the entry and end with this one.
        """
        entry = self.entry
        if entry is None or entry.is_entry or entry not in self._runs:
            return entry
        return max(self._runs, key=_get_ending)

    @cached_property
    def _outermost(self) -> tuple[Step, ...]:
        return self.outermost(step for step in self.steps if step.convention)

    @cached_property
    def _wholes(self) -> tuple[Step, ...]:
        return tuple(step for step in self._outermost if step.kind is StepKind.OTHER)

    @cached_property
    def _runs(self) -> tuple[Step, ...]:
        return tuple(step for step in self._wholes if step.question.value and step.answer.value)

    @cached_property
    def final_generation(self) -> Step | None:
        """The generation that ended last; where it wraps others, the one of those that ended last."""
        generations = [step for step in self.steps if step.kind is StepKind.GENERATION]
        last = max(generations, key=_get_ending, default=None)
        if last is None:
            return None
        wrapping = self._forest.above({step.id for step in generations})
        within = self.below([last])
        single = [step for step in generations if step.id in within and step.id not in wrapping]
        return max(single, key=_get_ending, default=last)

    def find_outermost_carriers(self, name: str) -> tuple[Step, ...]:
        """Steps that carry the fact `name` while none above does: a wrapper's sum holds those below it."""
        return self.outermost(step for step in self.steps if name in step.facts)


def _get_times(step: Step) -> tuple[int, int]:
    return step.start_ns, step.end_ns


def _get_ending(step: Step) -> tuple[int, int]:
    """When a step ended, for an order of time; one whose end is unknown as when it started."""
    return step.end_ns or step.start_ns, step.start_ns
