"""Which judges look at a trace, and what the free ones say of it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.judging import choose_wanted, judge_and_score
from ragsonde.sampling import is_sampled
from ragsonde.scoring.outcomes import find_skip
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.ports import SampleRates
    from ragsonde_schemas.trace import Trace


def plan_evaluations(
    trace: Trace,
    *,
    assignments: Mapping[str, Assignment],
    sample_rates: SampleRates,
    may_raise: bool,
) -> tuple[PlannedEvaluation, ...]:
    """One evaluation a judge, as it is born with the trace.

    Finished at once: those of free judges, and of any judge where nothing can be scored (no contexts, no
    question): no call is made for them. The others wait, are sampled out, or, where the judge is not for this
    trace, filtered.
    """
    return tuple(
        _plan(
            trace,
            assignment,
            rate=_choose_rate(trace, sample_rates.find(trace.app, name), may_raise=may_raise),
        )
        for name, assignment in assignments.items()
    )


def _plan(trace: Trace, assignment: Assignment, *, rate: float) -> PlannedEvaluation:
    judge, scorers = assignment.judge, assignment.scorers
    born = PlannedEvaluation(
        judge=judge.name,
        fingerprint=judge.fingerprint,
        state=EvaluationState.WAITING,
        sample_rate=rate * trace.sampling_probability,
    )
    wanted = choose_wanted(trace, scorers) if assignment.is_for(trace) else ()
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
