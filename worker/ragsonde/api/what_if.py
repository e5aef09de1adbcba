"""What scores would be if fewer of the contexts had been retrieved, from verdicts that are there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragsonde.api.moments import Shift
from ragsonde.api.rescoring import find_raw
from ragsonde.scoring.outcomes import score_all
from ragsonde_schemas.assessment import Aspect, Assessment, ContextVerdict, Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.trace import Context, Trace

_OF_THE_WHOLE = frozenset(
    {Aspect.CLAIMS, Aspect.ANSWER_STATEMENTS, Aspect.REFERENCE_STATEMENTS, Aspect.RUBRICS}
)
"""Verdicts about the answer, or about all contexts at once: what they would be for fewer is not known."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Which contexts remain: those that pass scores and levels, and of these the first `top_k`.

    Attributes:
        min_score: the least retrieval score; a context without one passes.
        drop: levels that do not pass; a context without a level passes.
    """

    top_k: int | None = None
    min_score: float | None = None
    drop: frozenset[Level] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Remainder:
    """A trace and its verdicts after a cut.

    Attributes:
        trace: its contexts ranked, and numbered, anew without gaps.
        assessment: its verdicts under the new numbers.
        kept, dropped: numbers as they were before.
        characters: of all contexts; characters_saved: of those that were dropped.
    """

    trace: Trace
    assessment: Assessment
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    characters: int
    characters_saved: int


def cut_contexts(trace: Trace, assessment: Assessment, cut: Cut) -> Remainder:
    """What is left of a trace: remaining contexts close up, each keeps what was said about it."""
    contexts = trace.contexts or ()
    passing = [context for context in contexts if _passes(context, assessment, cut)]
    kept = passing if cut.top_k is None else passing[: cut.top_k]
    numbers = {context.number: str(place) for place, context in enumerate(kept, start=1)}
    moved = tuple(_move(context, rank) for rank, context in enumerate(kept))
    # a copy keeps what is cached: without its own, the trace would have the sentences of before
    sentences = tuple(sentence for context in moved for sentence in context.sentences)
    lengths = {context.number: len(context.content) for context in contexts}
    return Remainder(
        trace=trace.model_copy(update={"contexts": moved, "sentences": sentences}),
        assessment=_renumber(assessment, numbers),
        kept=tuple(numbers),
        dropped=tuple(number for number in lengths if number not in numbers),
        characters=sum(lengths.values()),
        characters_saved=sum(length for number, length in lengths.items() if number not in numbers),
    )


@dataclass(kw_only=True)
class WhatIf:
    """What a cut would do, summed up over the evaluations of one judge.

    Attributes:
        shifts: by scorer instance, raw scores before and after.
        left_out: instances whose verdicts are about the answer or all contexts at once: nothing to compute.
        evaluations: with verdicts and at least one context.
        cut_evaluations: of these, the ones that lose a context.
        emptied: of these, the ones that would be left without any.
        lost_used, lost_relevant, lost_essential: the ones that lose a context that the answer uses, that is
            relevant, or that holds an essential sentence: what their answer would have been is not known.
        not_assessed: how many evaluations have no verdict `used`, `relevant`, `essential`: they lose nothing.
        unscored_contexts: contexts that pass `min_score` because they have no retrieval score.
    """

    scorers: Sequence[Scorer]
    cut: Cut
    shifts: dict[str, Shift] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    evaluations: int = 0
    cut_evaluations: int = 0
    emptied: int = 0
    lost_used: int = 0
    lost_relevant: int = 0
    lost_essential: int = 0
    contexts: int = 0
    contexts_dropped: int = 0
    characters: int = 0
    characters_saved: int = 0
    unscored_contexts: int = 0
    not_assessed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.left_out = tuple(one.instance for one in self.scorers if one.needs & _OF_THE_WHOLE)
        self.scorers = tuple(one for one in self.scorers if one.instance not in self.left_out)
        self.shifts = {scorer.instance: Shift() for scorer in self.scorers}

    def add(self, trace: Trace, assessment: Assessment) -> Remainder | None:
        """Takes in a trace and its verdicts; what is left of it, None without any context or verdict."""
        if trace.missing_contexts is not None or not _holds_verdicts(assessment):
            return None
        left = cut_contexts(trace, assessment, self.cut)
        self._count(trace, assessment, left)
        before = score_all(self.scorers, trace, assessment)
        after = score_all(self.scorers, left.trace, left.assessment)
        for one, other in zip(before, after, strict=True):
            self.shifts[one.scorer].add(find_raw(one), find_raw(other))
        return left

    def _count(self, trace: Trace, assessment: Assessment, left: Remainder) -> None:
        verdicts = assessment.contexts or {}
        lost = [verdicts.get(number, ContextVerdict()) for number in left.dropped]
        essential = {number.partition(".")[0] for number in assessment.essential or ()}
        self.evaluations += 1
        self.cut_evaluations += bool(left.dropped)
        self.emptied += left.trace.missing_contexts is not None
        self.lost_used += any(verdict.used for verdict in lost)
        self.lost_relevant += any(verdict.relevant for verdict in lost)
        self.lost_essential += not essential.isdisjoint(left.dropped)
        for name in ("used", "relevant"):
            self.not_assessed[name] += all(getattr(one, name) is None for one in verdicts.values())
        self.not_assessed["essential"] += assessment.essential is None
        self.contexts += len(trace.contexts or ())
        self.contexts_dropped += len(left.dropped)
        self.characters += left.characters
        self.characters_saved += left.characters_saved
        if self.cut.min_score is not None:
            self.unscored_contexts += sum(context.score is None for context in trace.contexts or ())


def _holds_verdicts(assessment: Assessment) -> bool:
    given = (assessment.contexts, assessment.essential, assessment.relevant_sentences, assessment.statements)
    return any(verdicts is not None for verdicts in given)


def _passes(context: Context, assessment: Assessment, cut: Cut) -> bool:
    if cut.min_score is not None and context.score is not None and context.score < cut.min_score:
        return False
    if context.is_blank:
        return Level.NONE not in cut.drop
    verdict = (assessment.contexts or {}).get(context.number)
    return verdict is None or verdict.level not in cut.drop


def _move(context: Context, rank: int) -> Context:
    sentences = tuple(
        sentence.model_copy(update={"number": _rename(sentence.number, {context.number: str(rank + 1)})})
        for sentence in context.sentences
    )
    return context.model_copy(update={"rank": rank, "sentences": sentences})


def _renumber(assessment: Assessment, numbers: Mapping[str, str]) -> Assessment:
    verdicts, statements = assessment.contexts, assessment.statements
    sentences = {
        name: tuple(_rename(number, numbers) for number in named if number.partition(".")[0] in numbers)
        for name in ("essential", "relevant_sentences", "sentences_shown")
        if (named := getattr(assessment, name)) is not None
    }
    return assessment.model_copy(
        update={
            **sentences,
            "contexts": verdicts
            and {numbers[number]: verdict for number, verdict in verdicts.items() if number in numbers},
            "statements": statements
            and tuple(
                one.model_copy(update={"context": one.context and numbers[one.context]})
                for one in statements
                if one.context is None or one.context in numbers
            ),
        }
    )


def _rename(number: str, numbers: Mapping[str, str]) -> str:
    context, dot, sentence = number.partition(".")
    return f"{numbers[context]}{dot}{sentence}"
