"""Which stored revisions a backfill evaluates, and how many of them now."""

from __future__ import annotations

from datetime import timedelta
from math import floor
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.sampling import is_sampled
from ragsonde_schemas.evaluation import LEFT_OUT, EvaluationState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde_schemas.backfill import BackfillRequest, Candidate

LONGEST_BURST = timedelta(seconds=10)
"""So much of a rate is made up for at most: what was missed meanwhile does not come at once."""


class Choice(NamedTuple):
    """What a backfill takes of some revisions.

    Attributes:
        chosen: revisions, each with the share of its like that is judged.
        without_texts: those it would have taken, but whose texts are gone.
    """

    chosen: tuple[tuple[Candidate, float], ...]
    without_texts: int


class Turn(NamedTuple):
    """How many evaluations may be begun now, and up to when the rate is used with them."""

    size: int
    paced_at: datetime


def choose_candidates(
    candidates: Sequence[Candidate], request: BackfillRequest, *, assignment: Assignment
) -> Choice:
    """The revisions that lack an evaluation which the judge, as it is configured, would make of live ones.

    They count, their texts are kept, the judge and the request are for them, the message's wish allows it,
    and the draw is within the request's share. An evaluation that ended is left as it is, but for what live
    traffic sampled out or shed; or, where the request says so, what failed or lacks a scorer's score is run
    once more, and nothing else.

    Args:
        candidates: with their state under the request's judge and fingerprint.
        request: app, environment and sample are read.
        assignment: the judge's.
    """
    wanted = [one for one in candidates if _is_wanted(one, request, assignment=assignment)]
    chosen = tuple(
        (one, _find_rate(one, request) * one.sampling_probability) for one in wanted if one.has_texts
    )
    return Choice(chosen, without_texts=len(wanted) - len(chosen))


def _is_wanted(one: Candidate, request: BackfillRequest, *, assignment: Assignment) -> bool:
    is_meant = (request.app is None or one.key.app == request.app) and (
        request.environment is None or one.environment == request.environment
    )
    return (
        one.counts
        and _lacks(one, request)
        and is_meant
        and _is_for(one, request, assignment=assignment)
        and is_sampled(app=one.key.app, trace_id=one.key.trace_id, rate=_find_rate(one, request))
    )


def _lacks(one: Candidate, request: BackfillRequest) -> bool:
    if one.state is None:
        return not request.only_failed and request.scorer is None
    if one.state not in list_taken(request) or one.has_score:
        return False
    return request.cause is None or one.cause is request.cause


def list_taken(request: BackfillRequest) -> frozenset[EvaluationState]:
    """The states from which the request's evaluations are begun anew."""
    if request.only_failed:
        return frozenset({EvaluationState.FAILED})
    if request.scorer is not None:
        return frozenset({EvaluationState.SCORED, EvaluationState.NOT_EVALUABLE})
    return frozenset(LEFT_OUT)


def _is_for(one: Candidate, request: BackfillRequest, *, assignment: Assignment) -> bool:
    names = {scorer.instance for scorer in assignment.scorers}
    if request.scorer is not None:
        names &= {request.scorer}
    wished = names if one.wish.scorers is None else names.intersection(one.wish.scorers)
    return bool(wished) and assignment.match.covers(
        app=one.key.app, environment=one.environment, format_name=one.format, tags=one.tags
    )


def _find_rate(one: Candidate, request: BackfillRequest) -> float:
    """A message's wish lowers the rate, as in live traffic."""
    return request.sample if one.wish.sample_rate is None else min(request.sample, one.wish.sample_rate)


def plan_turn(*, rate_per_second: float, paced_at: datetime, now: datetime, most: int) -> Turn:
    """How many evaluations the rate allows since the last turn.

    Args:
        rate_per_second: at most so many in a second.
        paced_at: up to when the rate has been used.
        now: not before that.
        most: room for so many.
    """
    begins = max(paced_at, now - max(LONGEST_BURST, timedelta(seconds=1 / rate_per_second)))
    allowed = floor((now - begins).total_seconds() * rate_per_second + _ROUNDING)
    size = max(0, min(allowed, most))
    # what there was no room for is not made up for later
    used = begins + timedelta(seconds=size / rate_per_second)
    return Turn(size, used if size == allowed else now)


_ROUNDING = 1e-6
