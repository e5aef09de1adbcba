"""Whether a judge that costs money must be asked at all, and whether its budget has room."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, cast

from ragsonde.pipeline.adding import find_held
from ragsonde.pipeline.waiting import LONGEST_WAIT
from ragsonde.scoring.outcomes import is_enough, needed_aspects
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.pipeline.stages import Stages
    from ragsonde.ports import PaidJudge
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.spending import WorstCase
    from ragsonde_schemas.trace import Trace

BUSY_DELAY = timedelta(seconds=5)
"""After which an evaluation asks again for the room that others hold: as long as a call or two."""
PACED_DELAY = timedelta(minutes=15)
LONGEST_PACED_WAIT = timedelta(hours=2)
RETIRED_DELAY = timedelta(minutes=1)
"""After which a backfill's evaluation looks again for a worker with the settings that it was planned by."""


def find_given(claimed: ClaimedEvaluation, assignment: Assignment, stages: Stages) -> Assessment | None:
    """Verdicts that the same judge gave for the same content, if they hold all that is needed now."""
    if (held := find_held(claimed, assignment)) is not None:
        return held
    if assignment.judge.is_free:
        return None
    found = claimed.earlier
    is_hit = found is not None and is_enough(found, claimed.trace, scorers=assignment.scorers)
    stages.sink.on_cache_read(claimed.key, is_hit=is_hit)
    if found is None or not is_hit:
        return None
    return found.model_copy(update={"is_cached": True, "calls": ()})


def may_ask(claimed: ClaimedEvaluation, assignment: Assignment, stages: Stages) -> bool:
    """True when what asking may take is reserved; else the evaluation waits for room, or is shed.

    Raises:
        JudgePausedError: the budget is in dollars and the price is not known.
    """
    reservation = reserve_room(
        assignment, claimed.trace, partial(stages.budgets.reserve, claimed), stages=stages
    )
    if reservation is Reservation.HELD:
        return True
    until = (
        choose_next_asking(reservation, waiting_since=claimed.waiting_since, now=stages.clock.now())
        if claimed.backfill_id is None
        else choose_next_turn(reservation, now=stages.clock.now())
    )
    if until is not None:
        postpone(claimed, stages, until=until, cause=Cause.BUDGET_SPENT)
    elif (
        stages.insist(lambda: stages.traces.shed(claimed, cause=Cause.BUDGET_SPENT))
        and claimed.backfill_id is None
    ):
        stages.sink.on_shed(claimed.key, Cause.BUDGET_SPENT)
    return False


def reserve_room(
    assignment: Assignment,
    trace: Trace,
    reserve: Callable[[Callable[[], WorstCase]], Reservation],
    *,
    stages: Stages,
) -> Reservation:
    """What the budget says to asking a judge about a trace; a free one has no budget.

    Raises:
        JudgePausedError: the budget is in dollars and the price is not known.
    """
    if assignment.judge.is_free:
        return Reservation.HELD
    judge = cast("PaidJudge", assignment.judge)

    def estimate() -> WorstCase:
        return judge.estimate(trace, needed_aspects(assignment.scorers, trace))

    return stages.insist(lambda: reserve(estimate))


def choose_next_asking(
    reservation: Reservation, *, waiting_since: datetime, now: datetime
) -> datetime | None:
    """When an evaluation that found no room asks for it again; None: not any more, it is to be shed.

    What others hold comes back within a call or two. What the hours to come will have is asked for every
    quarter of an hour and when the next hour begins, but not for longer than two hours after birth: what is
    due by then needs the room itself.
    """
    waited = now - waiting_since
    if reservation is Reservation.BUSY and waited < LONGEST_WAIT:
        return now + BUSY_DELAY
    if reservation is Reservation.PACED and waited < LONGEST_PACED_WAIT:
        this_hour = now.replace(minute=0, second=0, microsecond=0)
        return min(now + PACED_DELAY, this_hour + timedelta(hours=1))
    return None


def choose_next_turn(reservation: Reservation, *, now: datetime) -> datetime | None:
    """When a backfill's evaluation asks for room again; None where its backfill has none left: it is shed.

    It has time: where its judge's budget has no room for backfills it waits for the next hour.
    """
    match reservation:
        case Reservation.CAPPED:
            return None
        case Reservation.BUSY:
            return now + BUSY_DELAY
        case _:
            return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def tell_calls(key: EvaluationKey, calls: tuple[JudgeCall, ...], stages: Stages) -> None:
    """Before anything is written: they were paid whether or not this claim may still end its run."""
    if calls:
        stages.sink.on_calls(key, calls)


def postpone(
    claimed: ClaimedEvaluation,
    stages: Stages,
    *,
    until: datetime,
    cause: Cause,
    calls: tuple[JudgeCall, ...] = (),
) -> None:
    """Puts a claimed evaluation back to waiting."""
    is_waiting = stages.insist(lambda: stages.traces.postpone(claimed, until=until, cause=cause, calls=calls))
    if is_waiting and claimed.backfill_id is None:
        stages.sink.on_postponed(claimed.key.judge, cause)
