"""How far two judges agree about the same traces, a judge with people for one: accuracy, kappa, confusion."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import list_shown
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

INSUFFICIENT = "insufficient"
_YES_NO = ("yes", "no")
_LEVELS = tuple(level.value for level in Level)
_CONTEXT_ASPECTS = tuple(aspect for aspect in Aspect if aspect in PER_CONTEXT)

COMPARED: dict[str, tuple[str, ...]] = {
    **{aspect.value: _LEVELS if aspect is Aspect.LEVEL else _YES_NO for aspect in _CONTEXT_ASPECTS},
    Aspect.ESSENTIAL.value: _YES_NO,
    Aspect.RELEVANT_SENTENCES.value: _YES_NO,
    INSUFFICIENT: _YES_NO,
}
"""What is compared, with the verdicts that it can have: contexts, then sentences, then whole traces."""

Verdicts = dict[tuple[str, str], str]
"""(what is compared, number of the context or sentence, '' for the trace) -> verdict."""


@dataclass(frozen=True, kw_only=True)
class AspectAgreement:
    """Agreement in one aspect.

    Attributes:
        labels: the verdicts it can have, in the order of the confusion table.
        confusion: rows: what people said; columns: what the judge said; counts of items.
    """

    aspect: str
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Items (contexts, sentences or traces) about which both gave a verdict."""
        return sum(map(sum, self.confusion))

    @property
    def agreed(self) -> int:
        """Items about which both said the same."""
        return sum(row[place] for place, row in enumerate(self.confusion))

    @property
    def accuracy(self) -> float | None:
        """The share of items about which both said the same; None without any."""
        return self.agreed / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond what chance gives, at most 1, 0 = no better than chance.

        (p_o - p_e) / (1 - p_e), p_o the share that agrees and p_e the share that would if both gave each
        verdict as often as they do but independently (J. Cohen, A coefficient of agreement for nominal
        scales, Educational and Psychological Measurement 20, 1960). None without items, and where both gave
        one and the same verdict throughout: then p_e is 1.
        """
        by_chance = sum(
            sum(row) * sum(column)
            for row, column in zip(self.confusion, zip(*self.confusion, strict=True), strict=True)
        )
        room = self.n**2 - by_chance
        return (self.n * self.agreed - by_chance) / room if room else None

    @property
    def note(self) -> str | None:
        """Why there is no kappa; None where there is one."""
        if self.kappa is not None:
            return None
        return "both gave one verdict throughout: kappa is not defined" if self.n else "nothing to compare"


def compare_assessments(pairs: Iterable[tuple[Trace, Assessment, Assessment]]) -> tuple[AspectAgreement, ...]:
    """The agreement in each aspect, over all traces.

    Args:
        pairs: a trace, what people said of it and what the judge said. What either did not assess, or
            assessed unusably, is not compared.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for trace, people, judge in pairs:
        theirs = list_verdicts(trace, judge)
        for (aspect, number), verdict in list_verdicts(trace, people).items():
            other = theirs.get((aspect, number))
            if other is not None:
                counts[aspect, verdict, other] += 1
    return tuple(
        AspectAgreement(
            aspect=aspect,
            labels=labels,
            confusion=tuple(tuple(counts[aspect, row, column] for column in labels) for row in labels),
        )
        for aspect, labels in COMPARED.items()
    )


def list_verdicts(trace: Trace, assessment: Assessment) -> Verdicts:
    """Every usable verdict of an assessment about contexts that are not blank, shown sentences, the trace."""
    return dict(
        [
            *_list_context_verdicts(trace, assessment),
            *_list_sentence_verdicts(trace, assessment),
            *_list_trace_verdicts(assessment),
        ]
    )


def _list_context_verdicts(trace: Trace, assessment: Assessment) -> Iterator[tuple[tuple[str, str], str]]:
    verdicts = assessment.contexts or {}
    for context in trace.contexts or ():
        verdict = None if context.is_blank else verdicts.get(context.number)
        for aspect in _CONTEXT_ASPECTS if verdict is not None else ():
            said = getattr(verdict, aspect)
            if said is not None and aspect not in assessment.faults:
                yield (aspect.value, context.number), said.value if isinstance(said, Level) else _say(said)


def _list_sentence_verdicts(trace: Trace, assessment: Assessment) -> Iterator[tuple[tuple[str, str], str]]:
    shown = [sentence.number for sentence in list_shown(trace, assessment)]
    for aspect, named in (
        (Aspect.ESSENTIAL, assessment.essential),
        (Aspect.RELEVANT_SENTENCES, assessment.relevant_sentences),
    ):
        if named is not None and aspect not in assessment.faults:
            for number in shown:
                yield (aspect.value, number), _say(number in named)


def _list_trace_verdicts(assessment: Assessment) -> Iterator[tuple[tuple[str, str], str]]:
    if assessment.insufficient is not None and Aspect.ESSENTIAL not in assessment.faults:
        yield (INSUFFICIENT, ""), _say(assessment.insufficient)


def _say(is_so: bool) -> str:  # noqa: FBT001 - the verdict itself
    return "yes" if is_so else "no"
