"""The check set: which traces are in it, how one is judged again, and how far a judge has moved."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import defaultdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from ragsonde.pipeline.asking import reserve_room, tell_calls
from ragsonde.pipeline.judging import STARTS_BEFORE_FAILING, fail_evaluation, judge_and_score
from ragsonde.pipeline.turns import claiming_in_turn
from ragsonde_schemas.check import CheckResult, Drift
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.check import Candidate, CheckKey, CheckScore, ClaimedCheck
    from ragsonde_schemas.evaluation import EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall

AGAIN = timedelta(minutes=2)
"""After an outage, and where there is no room in a budget: the day is long."""
_LOW, _HIGH = 1 / 3, 2 / 3


def check(key: CheckKey, stages: Stages) -> None:
    """Judges one trace of the check set again and stores what came of it; done already: nothing.

    It takes the path of an evaluation but for the cache, and tells the sink of its calls alone: no mean and
    no score's series knows of it.

    Raises:
        DatabaseLostError: call again; the claim looks first.
    """
    with claiming_in_turn(stages.checks, key, stages.isolation) as claimed:
        if claimed is not None:
            _run_claimed(claimed, stages)


def choose_checks(candidates: Sequence[Candidate], *, count: int) -> tuple[Candidate, ...]:
    """At most `count` candidates: low, middle and high scores and the newest in turns, each content once.

    The same candidates give the same choice, in whatever order they come: within a third of the scale the
    hash of the trace id decides. What one group lacks, the others give.
    """
    hashed = sorted(candidates, key=lambda one: hashlib.sha256(one.trace_id.encode()).digest())
    groups = [
        [one for one in hashed if one.mean_raw < _LOW],
        [one for one in hashed if _LOW <= one.mean_raw < _HIGH],
        [one for one in hashed if one.mean_raw >= _HIGH],
        sorted(hashed, key=lambda one: one.place),
    ]
    chosen: dict[str, Candidate] = {}
    while any(groups) and len(chosen) < count:
        for group in groups:
            while group and group[0].content_hash in chosen:
                group.pop(0)
            if group and len(chosen) < count:
                candidate = group.pop(0)
                chosen[candidate.content_hash] = candidate
    return tuple(chosen.values())


def measure_drift(scores: Iterable[CheckScore]) -> tuple[Drift, ...]:
    """The mean of (newest - first) over the traces of the check set, for each judge and scorer.

    Traces that have only their first number tell nothing and are left out.
    """
    groups: dict[tuple[str, str, str, str], list[CheckScore]] = defaultdict(list)
    for one in scores:
        if one.newest_day > one.first_day:
            groups[one.judge, one.fingerprint, one.scorer, one.version].append(one)
    return tuple(_measure(*key, group) for key, group in sorted(groups.items()))


def _measure(judge: str, fingerprint: str, scorer: str, version: str, group: Sequence[CheckScore]) -> Drift:
    differences = [one.newest - one.first for one in group]
    n = len(group)
    return Drift(
        judge=judge,
        fingerprint=fingerprint,
        scorer=scorer,
        version=version,
        n=n,
        reference=statistics.fmean(one.first for one in group),
        now=statistics.fmean(one.newest for one in group),
        difference=statistics.fmean(differences),
        stderr=statistics.stdev(differences) / math.sqrt(n) if n > 1 else None,
    )


def _run_claimed(claimed: ClaimedCheck, stages: Stages) -> None:
    key = claimed.key
    assignment = stages.assignments.get(key.judge)
    if assignment is None or assignment.judge.fingerprint != key.fingerprint:
        # another worker may be of the configuration that it was opened under
        _postpone(claimed, stages)
        return
    if claimed.unfinished_starts >= STARTS_BEFORE_FAILING:
        message = "the process died twice while it ran this check"
        _finish(claimed, _fail(claimed, assignment, Cause.REPEATED_CRASH, message), stages)
        return
    _judge(claimed, assignment, stages, deadline=stages.clock.monotonic() + stages.deadline_seconds)


def _judge(claimed: ClaimedCheck, assignment: Assignment, stages: Stages, *, deadline: float) -> None:
    try:
        reservation = reserve_room(
            assignment, claimed.trace, partial(stages.budgets.reserve_check, claimed), stages=stages
        )
        if reservation is not Reservation.HELD:
            _postpone(claimed, stages)
            return
        result = judge_and_score(
            claimed.trace, scorers=assignment.scorers, judge=assignment.judge, deadline=deadline
        )
    except (JudgeUnavailableError, JudgePausedError) as outage:
        _postpone(claimed, stages, wait=_choose_wait(outage), calls=outage.calls)
    except Exception as error:
        message = f"{type(error).__name__} while judging"
        _finish(claimed, _fail(claimed, assignment, Cause.INTERNAL_ERROR, message), stages)
        raise
    else:
        if result.cause is Cause.DEADLINE_EXCEEDED:
            # it was slow, which says nothing of its verdicts
            _postpone(claimed, stages, calls=result.calls)
            return
        tell_calls(_name(claimed), result.calls, stages)
        _finish(claimed, _describe(result), stages)


def _postpone(
    claimed: ClaimedCheck, stages: Stages, *, wait: timedelta = AGAIN, calls: tuple[JudgeCall, ...] = ()
) -> None:
    """Leaves it undone: it is published again later on the same day."""
    tell_calls(_name(claimed), calls, stages)
    until = stages.clock.now() + wait
    stages.insist(lambda: stages.checks.postpone(claimed, until=until, calls=calls))


def _choose_wait(outage: JudgeUnavailableError | JudgePausedError) -> timedelta:
    asked = outage.retry_after_seconds if isinstance(outage, JudgeUnavailableError) else None
    return max(AGAIN, timedelta(seconds=asked or 0.0))


def _name(claimed: ClaimedCheck) -> EvaluationKey:
    """Under which its calls count among the judge's; there is no evaluation of that key."""
    key = claimed.key
    return EvaluationKey(trace=claimed.trace.key, revision=1, judge=key.judge, fingerprint=key.fingerprint)


def _finish(claimed: ClaimedCheck, result: CheckResult, stages: Stages) -> None:
    stages.insist(lambda: stages.checks.finish(claimed, result))


def _fail(claimed: ClaimedCheck, assignment: Assignment, cause: Cause, message: str) -> CheckResult:
    return _describe(fail_evaluation(claimed.trace, scorers=assignment.scorers, cause=cause, message=message))


def _describe(result: EvaluationResult) -> CheckResult:
    return CheckResult(assessment=result.assessment, cause=result.cause, outcomes=result.outcomes)
