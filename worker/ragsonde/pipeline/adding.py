"""One more scorer for an evaluation that has ended: the judge is asked only for what it was never asked.

Verdicts that were given stay as they were given, as they are the evidence of the scores that are there; new
ones are put beside them only where they are of the same judge and about the same, whole texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.scoring.outcomes import conclude, fail_all, find_skip, list_gaps, score
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Assessment, ContextVerdict
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationResult, EvaluationState
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.evaluation import ClaimedEvaluation

ADDED = "added"
"""In the notes of an assessment: which aspects were asked later, who answered, in which epoch."""


def choose_assignment(claimed: ClaimedEvaluation, assignments: Mapping[str, Assignment]) -> Assignment | None:
    """The judge that the evaluation was planned with, and the scorers of this run; else None."""
    assignment = assignments.get(claimed.key.judge)
    if assignment is None or assignment.judge.fingerprint != claimed.key.fingerprint:
        return None
    if claimed.added_scorer is None:
        return assignment
    chosen = tuple(one for one in assignment.scorers if one.instance == claimed.added_scorer)
    return replace(assignment, scorers=chosen) if chosen else None


def find_held(claimed: ClaimedEvaluation, assignment: Assignment) -> Assessment | None:
    """The verdicts that are there, where a run that adds a scorer needs, or could put beside them, no more.

    None where the judge must be asked.
    """
    if claimed.added_scorer is None:
        return None
    (scorer,) = assignment.scorers
    held = _get_held(claimed)
    return held if not list_gaps(scorer, claimed.trace, held) or not _is_whole(held) else None


def judge_added(
    claimed: ClaimedEvaluation, *, assignment: Assignment, deadline: float, given: Assessment | None
) -> EvaluationResult:
    """The outcome of the scorer that is added, with all verdicts of the evaluation from now on.

    Args:
        claimed: a run that adds a scorer.
        assignment: of the judge and this scorer alone.
        deadline: monotonic seconds after which the judge may begin nothing new.
        given: verdicts that hold what is needed; then the judge is not asked.

    Raises:
        JudgeUnavailableError, JudgePausedError: the judge cannot answer now.
    """
    (scorer,) = assignment.scorers
    trace, held = claimed.trace, _get_held(claimed)
    if (skip := find_skip(scorer, trace)) is not None:
        return _conclude(EvaluationResult(state=EvaluationState.SCORED, outcomes=(skip,)))
    gaps = list_gaps(scorer, trace, held)
    if not gaps:
        outcome = score(scorer, trace, held)
        return _conclude(EvaluationResult(state=EvaluationState.SCORED, outcomes=(outcome,), assessment=held))
    if not _is_whole(held):
        return _refuse(scorer, claimed, "its verdicts are a fallback's, or of contexts that were cut")
    found = given or assignment.judge.assess(trace, gaps, deadline=deadline)
    if claimed.kept is not None and claimed.kept.assessment is not None and not _is_whole(found):
        refused = _refuse(scorer, claimed, "a fallback answered, or the contexts were cut this time")
        return refused.model_copy(update={"calls_before_outage": found.calls})
    united = add_verdicts(held, found, aspects=gaps)
    faults = {aspect: fault for aspect, fault in found.faults.items() if aspect in gaps}
    outcome = score(scorer, trace, united.model_copy(update={"faults": {**united.faults, **faults}}))
    return _conclude(EvaluationResult(state=EvaluationState.SCORED, outcomes=(outcome,), assessment=united))


def add_verdicts(held: Assessment, found: Assessment, *, aspects: frozenset[Aspect]) -> Assessment:
    """The verdicts held, and those of `aspects` that were found sound; what is held is never replaced.

    It has the calls, the epoch and the model of the answer found, and notes which aspects are of it. An
    aspect that came back unusable stays one that was not assessed: it may be asked again.
    """
    sound = aspects - found.faults.keys()
    fields: dict[str, Any] = {}
    if sound & PER_CONTEXT:
        fields["contexts"] = _add_to_contexts(held, found, aspects=sound & PER_CONTEXT)
    for aspect in sound - PER_CONTEXT:
        fields[aspect.value] = getattr(found, aspect)
    if Aspect.ESSENTIAL in sound:
        fields["insufficient"] = found.insufficient
    if Aspect.RUBRICS in sound:
        fields["rubrics"] = {**(found.rubrics or {}), **(held.rubrics or {})}
    told = {
        "aspects": sorted(sound),
        "answered_model": found.answered_model,
        "judge_epoch": found.judge_epoch,
    }
    fields["notes"] = {**held.notes, ADDED: [*held.notes.get(ADDED, ()), told]}
    for name in ("answered_model", "judge_epoch", "calls"):
        fields[name] = getattr(found, name)
    if held == Assessment():
        return found.model_copy(update={**fields, "faults": {}})
    return held.model_copy(update=fields)


def settle_kept(claimed: ClaimedEvaluation, result: EvaluationResult) -> EvaluationResult:
    """The result as far as it is the run's to give: one that adds a scorer touches no other outcome.

    What was scored stays so, however the added scorer's run ended.
    """
    if claimed.kept is None or claimed.added_scorer is None:
        return result
    own = tuple(one for one in result.outcomes if one.scorer == claimed.added_scorer)
    state, cause = conclude(own)
    if claimed.kept.was is EvaluationState.SCORED or any(isinstance(one, Score) for one in own):
        state, cause = EvaluationState.SCORED, None
    return result.model_copy(update={"outcomes": own, "state": state, "cause": cause})


def _get_held(claimed: ClaimedEvaluation) -> Assessment:
    held = None if claimed.kept is None else claimed.kept.assessment
    return held or Assessment()


def _is_whole(one: Assessment) -> bool:
    return one.answered_fingerprint is None and not one.truncated


def _add_to_contexts(
    held: Assessment, found: Assessment, *, aspects: frozenset[Aspect]
) -> dict[str, ContextVerdict]:
    names = [aspect.value for aspect in aspects]
    given = found.contexts or {}
    united = dict(held.contexts or {})
    for number, verdict in given.items():
        update = {name: getattr(verdict, name) for name in names}
        united[number] = united.get(number, ContextVerdict(reason=verdict.reason)).model_copy(update=update)
    return dict(sorted(united.items(), key=lambda item: int(item[0])))


def _refuse(scorer: Scorer, claimed: ClaimedEvaluation, why: str) -> EvaluationResult:
    message = f"it was not assessed: nothing can be put beside the stored verdicts, as {why}"
    outcomes = fail_all((scorer,), claimed.trace, Cause.NOT_ASSESSED, message)
    return _conclude(EvaluationResult(state=EvaluationState.SCORED, outcomes=outcomes))


def _conclude(result: EvaluationResult) -> EvaluationResult:
    state, cause = conclude(result.outcomes)
    return result.model_copy(update={"state": state, "cause": cause})
