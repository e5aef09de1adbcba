"""Which judges look at a trace, and what the free ones say of it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.judging import choose_wanted, judge_and_score
from ragsonde.sampling import is_sampled
from ragsonde.scoring.outcomes import find_skip
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.trace import Trace


def plan_evaluations(
    trace: Trace,
    *,
    scorers: Sequence[Scorer],
    judges: Mapping[str, Judge],
    sample_rates: Mapping[str, float],
    may_raise: bool,
) -> tuple[PlannedEvaluation, ...]:
    """One evaluation a judge, as it is born with the trace.

    Finished at once: those of free judges, and of any judge where nothing can be scored (no contexts, no
    question): no call is made for them. The others wait, or are sampled out.
    """
    return tuple(
        _plan(
            trace,
            scorers=scorers,
            judge=judge,
            rate=_choose_rate(trace, sample_rates[name], may_raise=may_raise),
        )
        for name, judge in judges.items()
    )


def _plan(trace: Trace, *, scorers: Sequence[Scorer], judge: Judge, rate: float) -> PlannedEvaluation:
    born = PlannedEvaluation(
        judge=judge.name,
        fingerprint=judge.fingerprint,
        state=EvaluationState.WAITING,
        sample_rate=rate * trace.sampling_probability,
    )
    wanted = choose_wanted(trace, scorers)
    if not wanted:
        return born.model_copy(update={"state": EvaluationState.FILTERED})
    if not is_sampled(app=trace.app, trace_id=trace.trace_id, rate=rate):
        return born.model_copy(update={"state": EvaluationState.SAMPLED_OUT})
    if judge.is_free or all(find_skip(scorer, trace) is not None for scorer in wanted):
        result = judge_and_score(trace, scorers=scorers, judge=judge)
        return born.model_copy(update={"state": result.state, "result": result})
    return born


def _choose_rate(trace: Trace, configured: float, *, may_raise: bool) -> float:
    wished = trace.wish.sample_rate
    if wished is None:
        return configured
    return wished if may_raise else min(configured, wished)
