"""Of runs beside each other: which one was asked what another one answered, and which are other turns."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from ragsonde.extraction.steps import StepKind, get_ending, has_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ragsonde.extraction.steps import Step

_RUNS = frozenset({StepKind.OTHER, StepKind.GENERATION})
_WORDS = 3
"""An answer of fewer words (a label, a title) may stand in a later question by chance."""


def find_asked(said: Step, *, beside: Sequence[Step], heard: Sequence[str], entry: Step) -> Step:
    """The run whose question is the one that `said` answered: itself, or an earlier one that led to it.

    An earlier one led to it where the question of `said` is what that one answered (a rewrite) or a prompt
    around its question. Where `said` recorded no question of its own, it is the entry's, unless that is a
    prompt around what `said` heard (to find a title for it).

    Args:
        said: the run that answered.
        beside: the runs beside each other, in order of time, `said` among them.
        heard: other texts that `said` was told: the last message of the user, the last query of a retrieval.
        entry: the first one of them that is a run.
    """
    if said.kind not in _RUNS:
        return entry
    found, text = said, next(iter([said.question.value] if has_text(said.question) else heard), None)
    before = [run for run in _list_before(said, beside) if run.kind in _RUNS and has_text(run.question)]
    for run in reversed(before):
        if text is not None and _leads_to(run, text):
            found, text = run, run.question.value
    if found is not said or has_text(said.question):
        return found
    is_prompt = has_text(entry.question) and any(_holds(entry.question.value, part) for part in heard)
    return said if is_prompt or all(run is not entry for run in before) else entry


def find_others(
    said: Step, *, runs: Sequence[Step], whole: Collection[str], heard: Sequence[str], asked: Collection[str]
) -> tuple[Step, ...]:
    """Those of `runs` that were asked and answered something else than `said`: other turns, or asides.

    One that was asked the same, or led to what `said` or a retrieval was asked, is a part of the same turn.

    Args:
        said: the run that answered.
        runs: that answered and stand beside each other, in order of time.
        whole: ids of the generations that hold retrievals or tools, and so are runs.
        heard: as for `find_asked`.
        asked: the queries of all retrievals, stripped.
    """
    text = said.question.value if has_text(said.question) else None
    same = set() if text is None else {text.strip()}
    others: list[Step] = []
    for run in reversed(runs):
        is_run = run.kind is StepKind.OTHER or run.id in whole
        if run.id == said.id or not (is_run and has_text(run.question) and has_text(run.answer)):
            continue
        question = run.question.value
        if text is None:
            is_other = any(_holds(question, part) for part in heard)
        elif _leads_to(run, text):
            is_other, text = False, question
            same.add(question.strip())
        else:
            is_other = question.strip() not in same and run.answer.value.strip() not in asked
        if is_other:
            others.append(run)
    return tuple(reversed(others))


def find_earlier(said: Step, *, beside: Sequence[Step], others: Sequence[Step]) -> tuple[Step, ...]:
    """Those of `beside` that came before the last other turn that had ended when `said` started.

    A run that was asked something about the question of `said` (to find a title for it) is no turn.
    """
    text = said.question.value if has_text(said.question) else ""
    turns = {run.id for run in others if not _holds(run.question.value, text)}
    ended = {run.id for run in _list_before(said, beside)} & turns
    last = max((place for place, step in enumerate(beside) if step.id in ended), default=0)
    return tuple(beside[:last])


def _list_before(said: Step, runs: Sequence[Step]) -> list[Step]:
    """Those of `runs` that had ended when `said` started; of unknown times those that stand before it."""
    before = takewhile(lambda run: run.id != said.id, runs)
    return [run for run in before if get_ending(run)[0] <= said.start_ns]


def _leads_to(run: Step, text: str) -> bool:
    """True where `text` is what the run answered, or holds that or the run's question."""
    if has_text(run.answer):
        answer = run.answer.value.strip()
        if answer == text.strip() or (len(answer.split()) >= _WORDS and _holds(text, answer)):
            return True
    return _holds(text, run.question.value)


def _holds(text: str, part: str) -> bool:
    """True where `part` stands in `text` between other words, and is not all of it."""
    part = part.strip()
    if not part or len(part) >= len(text.strip()) or part not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None
