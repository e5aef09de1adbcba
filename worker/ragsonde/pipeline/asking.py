"""Whether a judge that costs money must be asked at all, and whether its budget has room."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast

from ragsonde.scoring.outcomes import is_enough, needed_aspects
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.pipeline.stages import Stages
    from ragsonde.ports import PaidJudge
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.evaluation import ClaimedEvaluation
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.spending import WorstCase

BUSY_SECONDS = 5.0
"""After which an evaluation asks again for the room that others hold: as long as a call or two."""


def find_given(claimed: ClaimedEvaluation, assignment: Assignment, stages: Stages) -> Assessment | None:
    """Verdicts that the same judge gave for the same content, if they hold all that is needed now."""
    if assignment.judge.is_free:
        return None
    found = stages.insist(lambda: stages.cache.find(claimed.key.fingerprint, claimed.trace.content_hash))
    is_hit = found is not None and is_enough(found, claimed.trace, scorers=assignment.scorers)
    stages.sink.on_cache_read(claimed.key, is_hit=is_hit)
    if found is None or not is_hit:
        return None
    return found.model_copy(update={"is_cached": True, "calls": ()})


def may_ask(claimed: ClaimedEvaluation, assignment: Assignment, stages: Stages) -> bool:
    """True when the worst case of asking is reserved; else the evaluation waits for room, or is shed.

    Raises:
        JudgePausedError: the budget is in dollars and the price is not known.
    """
    if assignment.judge.is_free:
        return True
    judge = cast("PaidJudge", assignment.judge)

    def estimate() -> WorstCase:
        return judge.estimate(claimed.trace, needed_aspects(assignment.scorers, claimed.trace))

    reservation = stages.insist(lambda: stages.budgets.reserve(claimed, estimate))
    if reservation is Reservation.BUSY:
        until = stages.clock.now() + timedelta(seconds=BUSY_SECONDS)
        postpone(claimed, stages, until=until, cause=Cause.BUDGET_SPENT)
    elif reservation is Reservation.SPENT and stages.insist(
        lambda: stages.traces.shed(claimed, cause=Cause.BUDGET_SPENT)
    ):
        stages.sink.on_shed(claimed.key, Cause.BUDGET_SPENT)
    return reservation is Reservation.HELD


def postpone(
    claimed: ClaimedEvaluation,
    stages: Stages,
    *,
    until: datetime,
    cause: Cause,
    calls: tuple[JudgeCall, ...] = (),
) -> None:
    """Puts a claimed evaluation back to waiting."""
    if stages.insist(lambda: stages.traces.postpone(claimed, until=until, cause=cause, calls=calls)):
        stages.sink.on_postponed(claimed.key.judge, cause)
