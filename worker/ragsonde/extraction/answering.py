"""Which of several runs beside each other answered: once for all conventions."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import pairwise
from typing import TYPE_CHECKING

from ragsonde.extraction.steps import StepKind, get_ending, has_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ragsonde.extraction.steps import Step

    Ending = tuple[tuple[int, int], int]

_RETRIEVING = frozenset({StepKind.RETRIEVER, StepKind.RERANKER})


def find_exit(
    beside: Sequence[Step],
    *,
    entry: Step,
    steps: Sequence[Step],
    owners: Mapping[str, str],
    lost: Collection[str],
) -> Step:
    """The run that answered: the first one that the last retrieval can have reached, else the last one.

    What comes after it (a title for the conversation, questions to ask next) answers nobody.

    Args:
        beside: steps with none of the application's above them, in order of time.
        entry: the one of them that was asked.
        steps: all of the trace, in order of time.
        owners: by the id of a step, which of `beside` it is or is inside.
        lost: ids of the steps above which one is missing: they may be parts of any run.
    """
    runs = list_answering(beside, steps=steps, owners=owners)
    if not runs:
        return entry
    return find_reached(runs, steps=steps, owners=owners, lost=lost) or _find_last(runs, entry=entry)


def find_reached(
    runs: Sequence[Step], *, steps: Sequence[Step], owners: Mapping[str, str], lost: Collection[str]
) -> Step | None:
    """The first of `runs` that the last retrieval can have reached, past calls of tools that were run.

    None where no retrieval reached any. The arguments are those of `find_exit`.
    """
    reached = _list_reached(runs, steps=steps, owners=owners, lost=lost)
    return _pass_tool_calls(reached, steps=steps) if reached else None


def list_answering(beside: Sequence[Step], *, steps: Sequence[Step], owners: Mapping[str, str]) -> list[Step]:
    """Generations, runs with one inside, and runs without that say something themselves.

    A run that only retrieved has no answer whatever it returned.
    """
    generating = {owners.get(step.id) for step in steps if step.kind is StepKind.GENERATION}
    retrieving = {owners.get(step.id) for step in steps if step.kind in _RETRIEVING}
    return [
        step
        for step in beside
        if step.kind is StepKind.GENERATION
        or (
            step.kind is StepKind.OTHER
            and (
                step.id in generating
                or (step.id not in retrieving and has_text(step.question) and has_text(step.answer))
            )
        )
    ]


def _list_reached(
    runs: Sequence[Step], *, steps: Sequence[Step], owners: Mapping[str, str], lost: Collection[str]
) -> list[Step]:
    """The first run that the last retrieval can have reached, and those after it; [] where none was.

    A retrieval reaches the run that it is inside, and those that start after it and end after it has ended.
    Where it has no such run, it may be a part of one that was running, whose link to it is lost.
    """
    retrievals = _list_retrievals(steps)
    latest = _find_latest(runs, retrievals, steps=steps, owners=owners, lost=lost)
    if latest:
        last = max(latest.values())
        first = next(place for place, step in enumerate(runs) if latest.get(step.id) == last)
        return list(runs[first:])
    around = [step for step in runs if step.kind is StepKind.OTHER]
    end = max(map(get_ending, around), default=_NEVER[0])
    ended = [get_ending(step) for step in retrievals if step.id in lost and get_ending(step) < end]
    return [step for step in around if ended and get_ending(step) > max(ended)]


def _list_retrievals(steps: Sequence[Step]) -> list[Step]:
    """Retrievers and rerankers; where there are none, tools."""
    retrievals = [step for step in steps if step.kind in _RETRIEVING]
    return retrievals or [step for step in steps if step.kind is StepKind.TOOL]


def _find_latest(
    runs: Sequence[Step],
    retrievals: Sequence[Step],
    *,
    steps: Sequence[Step],
    owners: Mapping[str, str],
    lost: Collection[str],
) -> dict[str, Ending]:
    """By the id of a run, the end of the last retrieval that can have reached it.

    A run whose own parent is missing and that lies within the time of another one may be a part of that.
    """
    places = {step.id: place for place, step in enumerate(steps)}
    retrieved, answering = {step.id for step in retrievals}, {step.id for step in runs}
    latest: dict[str, Ending] = {}
    for step in retrievals:
        owner = owners.get(step.id)
        if owner in answering:
            latest[owner] = max(latest.get(owner, _NEVER), (get_ending(step), places[step.id]))
    ended: list[Ending] = []
    covered = 0
    for place, step in enumerate(steps):
        ending = (get_ending(step), place)
        if step.id in retrieved:
            insort(ended, ending)
        elif step.id in answering:
            before = bisect_left(ended, ending)
            if before and (step.id not in lost or ending[0][0] >= covered):
                latest[step.id] = max(latest.get(step.id, _NEVER), ended[before - 1])
            if step.kind is StepKind.OTHER:
                covered = max(covered, ending[0][0])
    return latest


_NEVER: Ending = ((-1, -1), -1)


def _pass_tool_calls(reached: Sequence[Step], *, steps: Sequence[Step]) -> Step:
    """The first run that did not end in a call of a tool which was then run before the next one."""
    places = {step.id: place for place, step in enumerate(steps)}
    tools = [place for place, step in enumerate(steps) if step.kind is StepKind.TOOL]
    for step, following in pairwise(reached):
        after = bisect_left(tools, places[step.id])
        is_run = after < len(tools) and tools[after] < places[following.id]
        if step.answer.value != "" or not is_run:
            return step
    return reached[-1]


def _find_last(runs: Sequence[Step], *, entry: Step) -> Step:
    """The last of the runs that follow each other, chains and agents before single generations.

    One follows another only if it starts when that has ended: those that overlap are parallel parts.
    """
    whole = [step for step in runs if step.kind is StepKind.OTHER] or runs
    last = next((step for step in whole if step.id == entry.id), whole[0])
    for step in whole:
        if step.id != last.id and step.start_ns >= get_ending(last)[0]:
            last = step
    return last
