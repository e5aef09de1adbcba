"""What the scorers say of a place, beside what they said in the span before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.wording import say_name
from ragsonde.reporting.moves import measure_move
from ragsonde.reporting.report import JudgeLine, Reason, ReleaseLine, ReleaseScore, ScorerLine
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.student import find_interval
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.stream_labels import judge_label, scorer_label
from ragsonde_schemas.watched import BINS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde.storage.release_means import SeenRelease
    from ragsonde_schemas.watched import JudgeCounts, ScorerSummary

MOST_RELEASES = 20

_S = EvaluationState
_LEFT_OUT = {
    _S.SAMPLED_OUT: "outside the judge's sample",
    _S.SHED: "left out for the judge's budget",
    _S.FILTERED: "left out by a rule",
    _S.SUPERSEDED: "replaced by a newer revision",
}


def list_judges(judges: Iterable[JudgeCounts]) -> tuple[JudgeLine, ...]:
    """Each judge's traces as scored, not scored and why, and waiting."""
    return tuple(_build_judge(one) for one in judges)


def list_scorers(
    now: Sequence[ScorerSummary], before: Sequence[ScorerSummary], scorers: Mapping[str, Scorer]
) -> tuple[ScorerLine, ...]:
    """A line for each scorer and model that said anything in the span.

    Args:
        now: of the span.
        before: of the span before.
        scorers: the configured ones, by instance name.
    """
    earlier = {one.stream: one for one in before}
    return tuple(_build_scorer(one, earlier.get(one.stream), scorers.get(one.stream.scorer)) for one in now)


def list_releases(
    releases: Sequence[SeenRelease], scorers: Mapping[str, Scorer]
) -> tuple[tuple[ReleaseLine, ...], int]:
    """The releases seen last, and how many more there are."""
    lines = tuple(
        ReleaseLine(
            name=one.name,
            traces=one.traces,
            first_at=one.first_at,
            last_at=one.last_at,
            scores=tuple(
                ReleaseScore(
                    scorer=scorer_label(found.stream.scorer, found.stream.version),
                    judge=judge_label(found.stream.judge, found.stream.fingerprint, found.stream.epoch),
                    n=found.n,
                    mean=found.mean,
                    scale=find_scale(scorers, found.stream.scorer),
                )
                for found in one.means
            ),
        )
        for one in releases[:MOST_RELEASES]
    )
    return lines, max(0, len(releases) - MOST_RELEASES)


def find_scale(scorers: Mapping[str, Scorer], name: str) -> float:
    """What raw scores of a scorer are multiplied with for people; 1 for one that is not configured."""
    found = scorers.get(name)
    return 1.0 if found is None else found.scale


def list_reasons(counts: Iterable[tuple[str, int]]) -> tuple[Reason, ...]:
    """Reasons with a number, the commonest first."""
    ordered = sorted(counts, key=lambda one: (-one[1], one[0]))
    return tuple(Reason(words=words, n=n) for words, n in ordered if n)


def _build_judge(counts: JudgeCounts) -> JudgeLine:
    states = counts.states
    caused = sum(counts.causes.values())
    # what it looked at and has no number for, a cause each; a cause of a newer version may be missing
    unknown = states.get(_S.NOT_EVALUABLE, 0) + states.get(_S.FAILED, 0) - caused
    reasons = [
        *((say_name(cause.value), n) for cause, n in counts.causes.items()),
        *((words, states.get(state, 0)) for state, words in _LEFT_OUT.items()),
        ("cause not known", max(0, unknown)),
    ]
    return JudgeLine(
        judge=counts.judge,
        scored=states.get(_S.SCORED, 0),
        not_scored=list_reasons(reasons),
        waiting=counts.waiting,
        sampled_out=states.get(_S.SAMPLED_OUT, 0),
        shed=states.get(_S.SHED, 0),
    )


def _build_scorer(summary: ScorerSummary, before: ScorerSummary | None, scorer: Scorer | None) -> ScorerLine:
    interval = None
    if summary.mean is not None:
        interval = find_interval(summary.mean, deviation=summary.deviation, n=summary.n)
    formula = None if scorer is None else scorer.formula
    return ScorerLine(
        scorer=summary.scorer,
        judge=summary.judge,
        name=summary.stream.scorer if formula is None else formula.display_name,
        question="" if formula is None else formula.comparison.question,
        scale=1.0 if scorer is None else scorer.scale,
        is_higher_better=scorer is None or scorer.direction is Direction.HIGHER,
        n=summary.n,
        mean=summary.mean,
        lower=None if interval is None else interval.lower,
        upper=None if interval is None else interval.upper,
        unscored=list_reasons((say_name(cause.value), n) for cause, n in summary.unscored.items()),
        share=summary.share,
        bins=summary.bins,
        before_bins=(0,) * BINS if before is None else before.bins,
        move=measure_move(summary, before),
    )
