"""What an evaluation gave: by trace, and over all traces."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from ragsonde.scoring.student import find_interval
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde.scoring.student import Interval
    from ragsonde_schemas.evaluation import EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

TARGET_FAILED = "target_failed"
"""The cause under which scorers count a trace whose target raised."""


@dataclass(frozen=True, kw_only=True)
class ItemResult:
    """What became of one trace.

    Attributes:
        place: where the trace was read.
        trace: as it was judged, with what the target answered.
        result: None where the target failed.
        error: why the target failed, None where it did not.
    """

    place: str
    trace: Trace
    result: EvaluationResult | None = None
    error: str | None = None

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """A score or an unscored for each scorer; none where the target failed."""
        return self.result.outcomes if self.result else ()

    @property
    def fallback_fingerprint(self) -> str | None:
        """Of the fallback that answered in the judge's place; None where none did."""
        assessment = self.result.assessment if self.result else None
        return assessment.answered_fingerprint if assessment else None

    @property
    def answered_model(self) -> str | None:
        """The model that answered, by the name it was asked under; None where no provider answered."""
        answered = [call.model for call in self.calls if call.is_answered]
        return answered[-1] if answered and self.result and self.result.assessment else None

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        """All that was asked of providers about this trace."""
        return self.result.calls if self.result else ()

    @property
    def is_wholly_scored(self) -> bool:
        """True when every scorer gave a number."""
        return bool(self.outcomes) and all(isinstance(outcome, Score) for outcome in self.outcomes)


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """One scorer over all traces.

    Attributes:
        scorer: the instance's name.
        display_name: the formula's, for people.
        mean: of the raw scores, None where there is none.
        interval: 95 % interval of the mean, see `student.METHOD`; None where it says that there is none.
        n: how many traces have a number.
        unscored: how many have none, by cause.
        threshold: of the instance; passed: how many reached it. None without a threshold.
    """

    scorer: str
    display_name: str
    mean: float | None
    interval: Interval | None
    n: int
    unscored: dict[str, int] = field(default_factory=dict)
    threshold: float | None = None
    passed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The traces that one model answered.

    Attributes:
        model: by the name it was asked under; None where no provider was asked.
        fingerprint: of what answered: the judge's own or a fallback's.
        is_fallback: True where it answered in the place of the judge's own model.
        n: how many traces.
    """

    model: str | None
    fingerprint: str
    is_fallback: bool
    n: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an evaluation gave.

    Attributes:
        judge: name of the judge; fingerprint: which judge exactly.
        items: one for each trace, in the order of the data.
        scores: by scorer instance, in the order of the scorers.
    """

    judge: str
    fingerprint: str
    items: tuple[ItemResult, ...]
    scores: dict[str, ScoreSummary]

    @property
    def answers(self) -> tuple[Answers, ...]:
        """Who answered, the most frequent first; traces that the judge gave no verdicts of are in none."""
        counts = Counter(
            (item.answered_model, item.fallback_fingerprint)
            for item in self.items
            if item.result is not None and item.result.assessment is not None
        )
        return tuple(
            Answers(
                model=model,
                fingerprint=fallback or self.fingerprint,
                is_fallback=fallback is not None,
                n=n,
            )
            for (model, fallback), n in counts.most_common()
        )

    @property
    def has_score(self) -> bool:
        """True when any scorer gave any trace a number."""
        return any(summary.n for summary in self.scores.values())


def summarise(items: Sequence[ItemResult], *, scorers: Sequence[Scorer]) -> dict[str, ScoreSummary]:
    """Each scorer's mean over the traces it gave a number, and what it could not score, by cause."""
    return {scorer.instance: _summarise_one(items, scorer=scorer) for scorer in scorers}


def _summarise_one(items: Sequence[ItemResult], *, scorer: Scorer) -> ScoreSummary:
    raws: list[float] = []
    passed = 0
    unscored: Counter[str] = Counter()
    for item in items:
        if item.error is not None:
            unscored[TARGET_FAILED] += 1
        for outcome in item.outcomes:
            if outcome.scorer != scorer.instance:
                continue
            if isinstance(outcome, Score):
                raws.append(outcome.raw)
                passed += outcome.passed is True
            else:
                unscored[outcome.cause.value] += 1
    return ScoreSummary(
        scorer=scorer.instance,
        display_name=scorer.formula.display_name,
        mean=fmean(raws) if raws else None,
        interval=find_interval(fmean(raws), deviation=stdev(raws), n=len(raws)) if len(raws) > 1 else None,
        n=len(raws),
        unscored=dict(unscored.most_common()),
        threshold=scorer.threshold,
        passed=None if scorer.threshold is None else passed,
    )
