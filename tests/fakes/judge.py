"""A judge written by hand, for tests of what lies above judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.assessment import (
    PER_CONTEXT,
    AnswerStatementVerdict,
    Aspect,
    Assessment,
    Certainty,
    ClaimVerdict,
    ContextVerdict,
    Fault,
    Level,
    ReferenceStatementVerdict,
    RubricVerdict,
)
from ragsonde_schemas.spending import WorstCase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde_schemas.rubric import Rubric
    from ragsonde_schemas.trace import Context, Trace


class FakeJudge:
    """Finds every context that is not blank relevant, and all their sentences; or does as `troubles` says.

    Args:
        troubles: one for each call, None for a good answer; used up, all answers are good. An exception is
            raised, a fault is given for every aspect, an assessment is returned.
        rubrics: get their last rating.

    Attributes:
        asked: (trace_id, aspects, deadline) of each call.
    """

    def __init__(
        self,
        name: str = "fake",
        *,
        fingerprint: str = "f" * 16,
        is_free: bool = True,
        troubles: Iterable[Exception | Fault | Assessment | None] = (),
        rubrics: Iterable[Rubric] = (),
    ) -> None:
        self._rubrics = tuple(rubrics)
        self.name = name
        self.fingerprint = fingerprint
        self.is_free = is_free
        self.asked: list[tuple[str, frozenset[Aspect], float | None]] = []
        self._troubles = list(troubles)

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:  # noqa: ARG002
        return WorstCase(calls=3, tokens=3_000, cost_usd=0.03)

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        self.asked.append((trace.trace_id, aspects, deadline))
        trouble = self._troubles.pop(0) if self._troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        if isinstance(trouble, Fault):
            return Assessment(faults=dict.fromkeys(aspects, trouble))
        return _praise(trace, aspects, self._rubrics) if trouble is None else trouble


def _praise(trace: Trace, aspects: frozenset[Aspect], rubrics: Iterable[Rubric]) -> Assessment:
    numbers = tuple(sentence.number for sentence in trace.sentences)
    contexts = {context.number: _praise_context(context, aspects) for context in trace.contexts or ()}
    return Assessment(
        contexts=contexts if aspects & PER_CONTEXT else None,
        missing=() if Aspect.MISSING in aspects else None,
        essential=numbers if Aspect.ESSENTIAL in aspects else None,
        insufficient=False if Aspect.ESSENTIAL in aspects else None,
        relevant_sentences=numbers if Aspect.RELEVANT_SENTENCES in aspects else None,
        claims=(_CLAIM,) if Aspect.CLAIMS in aspects else None,
        answer_statements=(_STATEMENT,) if Aspect.ANSWER_STATEMENTS in aspects else None,
        reference_statements=(_ATTRIBUTED,) if Aspect.REFERENCE_STATEMENTS in aspects else None,
        rubrics=_rate(rubrics) if Aspect.RUBRICS in aspects else None,
    )


_CLAIM = ClaimVerdict(text="A claim.", supported=Certainty.YES)
_STATEMENT = AnswerStatementVerdict(text="A statement.", relevant=Certainty.YES)
_ATTRIBUTED = ReferenceStatementVerdict(text="A statement.", attributed=True)


def _rate(rubrics: Iterable[Rubric]) -> dict[str, RubricVerdict]:
    return {rubric.name: RubricVerdict(rating=rubric.ratings[-1], digest=rubric.digest) for rubric in rubrics}


def _praise_context(context: Context, aspects: frozenset[Aspect]) -> ContextVerdict:
    is_good = not context.is_blank
    return ContextVerdict(
        relevant=is_good if Aspect.RELEVANT in aspects else None,
        supports=is_good if Aspect.SUPPORTS in aspects else None,
        level=(Level.HIGH if is_good else Level.NONE) if Aspect.LEVEL in aspects else None,
        used=is_good if Aspect.USED in aspects else None,
    )
