"""One trace and one judge: one question for all scorers, then the pure formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.outcomes import conclude, fail_all, find_skip, needed_aspects, score_all
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationResult
from ragsonde_schemas.score import Unscored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

STARTS_BEFORE_FAILING = 3
"""The third start of an evaluation that twice took the process with it does not happen."""


def judge_and_score(
    trace: Trace,
    *,
    scorers: Sequence[Scorer],
    judge: Judge,
    deadline: float | None = None,
    given: Assessment | None = None,
) -> EvaluationResult:
    """The scores of a trace under one judge, asked once for all that the configured scorers need.

    The aspects are the union over the configured scorers, never a message's own list, so that a series
    does not depend on who published; a message's wish only leaves outcomes out.

    Args:
        trace: any trace; one without contexts or question is not judged at all.
        scorers: all that are configured for the app.
        judge: who answers.
        deadline: monotonic seconds after which the judge may begin nothing new.
        given: verdicts for all aspects that are needed; then the judge is not asked.

    Raises:
        JudgeUnavailableError, JudgePausedError: the judge cannot answer now.
    """
    wanted = choose_wanted(trace, scorers)
    skipped = [find_skip(scorer, trace) for scorer in wanted]
    if all(outcome is not None for outcome in skipped):
        return _conclude(tuple(outcome for outcome in skipped if outcome is not None))
    assessment = given or judge.assess(trace, needed_aspects(scorers, trace), deadline=deadline)
    result = _conclude(score_all(wanted, trace, assessment))
    return result.model_copy(update={"assessment": assessment})


def fail_evaluation(
    trace: Trace, *, scorers: Sequence[Scorer], cause: Cause, message: str
) -> EvaluationResult:
    """The result of an evaluation that could not be judged: error(cause) for what is not skipped anyway."""
    return _conclude(fail_all(choose_wanted(trace, scorers), trace, cause, message))


def expire_evaluation(trace: Trace, *, scorers: Sequence[Scorer]) -> EvaluationResult:
    """The result of an evaluation whose texts are gone: an error for all, as nobody knows what to skip."""
    return _conclude(
        tuple(
            Unscored(
                status="error",
                scorer=scorer.instance,
                version=scorer.version_for(trace),
                cause=Cause.CONTENT_EXPIRED,
                reason="the texts of the trace were dropped by retention before it was judged",
            )
            for scorer in choose_wanted(trace, scorers)
        )
    )


def choose_wanted(trace: Trace, scorers: Sequence[Scorer]) -> tuple[Scorer, ...]:
    """The configured scorers that the message wants; without a wish, all."""
    if trace.wish.scorers is None:
        return tuple(scorers)
    return tuple(scorer for scorer in scorers if scorer.instance in trace.wish.scorers)


def _conclude(outcomes: tuple[Outcome, ...]) -> EvaluationResult:
    state, cause = conclude(outcomes)
    return EvaluationResult(state=state, cause=cause, outcomes=outcomes)
