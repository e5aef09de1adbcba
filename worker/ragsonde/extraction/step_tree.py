"""The steps of one trace as a tree, in order of time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ragsonde.extraction.answering import find_exit, find_reached, list_answering
from ragsonde.extraction.checks import mark_checks
from ragsonde.extraction.forest import Forest
from ragsonde.extraction.run_turns import find_asked, find_earlier, find_others
from ragsonde.extraction.steps import StepKind, get_ending, has_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ragsonde.extraction.steps import Step


class StepTree:
    """The steps of one trace; a step without a convention is only there for those above and below it.

    What is inside a check is a check too, as `mark_checks` says.

    Attributes:
        steps: in order of start, then end, then as given; of steps with equal ids the last one given.
        roots: steps that name no parent.
        others: runs beside the one that answered that were left out, as other turns.
    """

    def __init__(self, steps: Sequence[Step], *, others: tuple[Step, ...] = ()) -> None:
        ordered = sorted({step.id: step for step in steps}.values(), key=_get_times)
        self._forest = Forest({step.id: step.parent_id for step in ordered})
        self.others = others
        self.steps = tuple(mark_checks(ordered, self._forest))
        self.roots = tuple(step for step in self.steps if step.parent_id is None)
        self._by_id = {step.id: step for step in self.steps}

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
    def parts(self) -> tuple[Step, ...]:
        """The outermost steps that a convention knows, without checks: the application, or what it did."""
        return tuple(
            step
            for step in self.outermost(step for step in self.steps if step.convention)
            if step.kind is not StepKind.CHECK
        )

    @cached_property
    def entry(self) -> Step | None:
        """The application's own root: the one marked so, else the outermost step that a convention knows.

        Of several outermost ones (a web framework's span above them is no step of the application) the first
        that is no single retrieval, tool or generation. A root goes before one whose parent is missing or no
        step of the application; one with question and answer before others.
        """
        marked = next((step for step in self.steps if step.is_entry), None)
        return marked or min(self.parts, key=self._rank_entry, default=None)

    def _rank_entry(self, step: Step) -> tuple[bool, ...]:
        is_run = has_text(step.question) and has_text(step.answer)
        return (
            step.kind is not StepKind.OTHER,
            step.parent_id is not None,
            not is_run,
            self._is_lost(step),
        )

    @cached_property
    def is_entry_sure(self) -> bool:
        """True where nothing else can be the entry: it is marked so, a root, or alone in what it is."""
        entry = self.entry
        if entry is None or self.others:
            return False
        if entry.is_entry or entry.parent_id is None:
            return True
        is_whole = entry.kind is StepKind.OTHER
        return not any(
            step is not entry and (step.kind is StepKind.OTHER or not is_whole) for step in self.parts
        )

    @cached_property
    def _beside(self) -> tuple[Step, ...]:
        """The entry, or the runs and other steps beside it: with no step of the application above them."""
        entry = self.entry
        if entry is None or entry.is_entry:
            return () if entry is None else (entry,)
        if entry.parent_id is None and entry.kind is StepKind.OTHER:
            return tuple(step for step in self.parts if step.parent_id is None)
        return self.parts

    @cached_property
    def exit(self) -> Step | None:
        """The step that says what the application answered: the entry, or another one of several runs.

        Only runs beside each other, with no step of the application above them, leave a choice.
        """
        entry = self.entry
        if entry is None or len(self._beside) == 1:
            return entry
        owners = self._find_owners(self._beside)
        return find_exit(self._beside, entry=entry, steps=self.steps, owners=owners, lost=self._lost)

    @cached_property
    def asked(self) -> Step | None:
        """The step whose question the exit answered: the entry, or of several runs the one that led to it."""
        if self.entry is None or self.exit is None or len(self._beside) == 1:
            return self.entry
        return find_asked(self.exit, beside=self._beside, heard=self._list_heard(), entry=self.entry)

    @cached_property
    def turn(self) -> StepTree:
        """The same trace without the runs that answered other questions, and what came before those.

        Of runs beside each other the one that answered is kept, with those that led to it.
        """
        said, beside = self.exit, self._beside
        if said is None or len(beside) == 1:
            return self
        owners = self._find_owners(beside)
        others = find_others(
            said,
            runs=list_answering(beside, steps=self.steps, owners=owners),
            whole={owners[step.id] for step in self.steps if step.kind in _DELIVERING and step.id in owners},
            heard=self._list_heard(),
            asked={step.question.value.strip() for step in self.steps if _is_query(step)},
        )
        if not others:
            return self
        left_out = {step.id for step in (*others, *find_earlier(said, beside=beside, others=others))}
        kept = [step for step in self.steps if owners.get(step.id) not in left_out]
        return StepTree(kept, others=others)

    def _list_heard(self) -> list[str]:
        """The last message of the user to the final generation, and the last query of a retriever."""
        turns = self.final_generation.turns if self.final_generation is not None else ()
        asked = [turn.content for turn in turns if turn.role == "user" and turn.content.strip()]
        queries = [step.question.value for step in self.steps if _is_query(step)]
        return [*asked[-1:], *queries[-1:]]

    @cached_property
    def _lost(self) -> set[str]:
        return {step.id for step in self.steps if self._is_lost(step)}

    def _is_lost(self, step: Step) -> bool:
        """True where what stands above the step ends in a parent that is missing."""
        return self._by_id[self._forest.tops[step.id]].parent_id is not None

    def _find_owners(self, steps: Iterable[Step]) -> dict[str, str]:
        """Which of `steps` each step is or is inside; those that are inside none are left out."""
        owners: dict[str, str] = {step.id: step.id for step in steps}
        for step in self.steps:
            path = [step.id]
            for above in self.ancestors(step):
                if path[-1] in owners:
                    break
                path.append(above.id)
            owner = owners.get(path[-1])
            if owner is not None:
                owners.update(dict.fromkeys(path, owner))
        return owners

    @cached_property
    def final_generation(self) -> Step | None:
        """The generation that gave the application's answer; where it wraps others, the last one of those.

        Of those inside the exit the last one that said what the exit answered, else the first one that the
        last retrieval can have reached, else the last one. Where none is inside, all others stand for it only
        if the exit is the application's own root.
        """
        said = self.exit
        generations = self._list_final_ones(said)
        answer = said.answer.value.strip() if said is not None and has_text(said.answer) else None
        same = {
            step.id
            for step in generations
            if answer and has_text(step.answer) and step.answer.value.strip() == answer
        }
        last = (None if same else self._find_first_reached(generations)) or _find_last(generations, same)
        if last is None:
            return None
        wrapping = self._forest.above({step.id for step in generations})
        within = self.below([last])
        single = [step for step in generations if step.id in within and step.id not in wrapping]
        return _find_last(single, same) or last

    def _list_final_ones(self, said: Step | None) -> list[Step]:
        generations = [step for step in self.steps if step.kind is StepKind.GENERATION]
        if said is None:
            return generations
        within = self.below([said]) | {said.id}
        inside = [step for step in generations if step.id in within]
        return inside if inside or not (said.is_entry or said.parent_id is None) else generations

    def _find_first_reached(self, generations: Sequence[Step]) -> Step | None:
        """Of those that are no part of a retrieval or tool; None where none was reached."""
        inside = self.below(step for step in self.steps if step.kind in _DELIVERING)
        runs = self.outermost(step for step in generations if step.id not in inside)
        owners = self._find_owners(runs)
        return find_reached(runs, steps=self.steps, owners=owners, lost=self._lost) if runs else None

    def find_outermost_carriers(self, name: str) -> tuple[Step, ...]:
        """Steps that carry the fact `name` while none above does: a wrapper's sum holds those below it."""
        return self.outermost(step for step in self.steps if name in step.facts)


_DELIVERING = frozenset({StepKind.RETRIEVER, StepKind.RERANKER, StepKind.TOOL})


def _is_query(step: Step) -> bool:
    return step.kind is StepKind.RETRIEVER and has_text(step.question)


def _get_times(step: Step) -> tuple[int, int]:
    return step.start_ns, step.end_ns


def _find_last(steps: Sequence[Step], preferred: Collection[str]) -> Step | None:
    """The one that ended last, of those preferred where there are any."""
    return max([step for step in steps if step.id in preferred] or steps, key=get_ending, default=None)
