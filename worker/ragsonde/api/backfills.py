"""Backfills from Python: what one would do, starting one, and doing the next step of one that runs.

The monitor does the steps. Whoever wants traces of the last days evaluated by a judge as it is configured now
(a command, a detector that needs a baseline) calls `foresee` and `start_backfill`.
"""

from __future__ import annotations

from heapq import heappush, heappushpop, nsmallest
from math import nextafter
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.pipeline.backfilling import choose_candidates
from ragsonde.sampling import draw
from ragsonde.storage.backfill_candidates import read_page
from ragsonde.storage.backfills import create_backfill
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde_schemas.backfill import BackfillRequest, Candidate


class Foreseen(NamedTuple):
    """What a backfill would have to do.

    Attributes:
        looked_at: stored revisions in the range.
        evaluations: those of them that lack the judge's evaluation and would get one.
        without_texts: those that lack it, but whose texts retention has dropped.
        examples: some of the revisions that would be evaluated, spread over the range.
        share: the sample within which the request's most traces are drawn of them; its own where all are.
    """

    looked_at: int
    evaluations: int
    without_texts: int
    examples: tuple[Candidate, ...]
    share: float = 1.0

    @property
    def is_nothing(self) -> bool:
        """True where nothing would be evaluated."""
        return not self.evaluations


MOST_EXAMPLES = 20


def foresee(engine: Engine, request: BackfillRequest, *, assignment: Assignment) -> Iterator[Foreseen]:
    """What a backfill would do, as far as the range has been looked at; the last value is of all of it.

    Args:
        engine: of this process.
        request: with judge and fingerprint.
        assignment: the judge's traces and scorers, as configured now.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    place, looked_at, evaluations, without_texts = None, 0, 0, 0
    examples: list[Candidate] = []
    drawn = _FirstDraws(most=request.most_traces)
    while True:
        page = read_page(engine, request, after=place)
        choice = choose_candidates(page.candidates, request, assignment=assignment)
        looked_at += len(page.candidates)
        evaluations += len(choice.chosen)
        without_texts += choice.without_texts
        examples += [candidate for candidate, _ in choice.chosen[::MOST_EXAMPLES]]
        drawn.take(candidate for candidate, _ in choice.chosen)
        share = drawn.find_share(request.sample)
        yield Foreseen(looked_at, evaluations, without_texts, _spread(examples), share)
        if page.next_place is None:
            return
        place = page.next_place


def narrow(request: BackfillRequest, foreseen: Foreseen) -> BackfillRequest:
    """The request with the share of traces that makes its most.

    So they come from all of its range: without it, `most_traces` would be the first in order. What an earlier
    backfill or live traffic has drawn is no part of what is left, so the share is found from the draws.
    """
    if request.most_traces is None or foreseen.evaluations <= request.most_traces:
        return request
    return request.model_copy(update={"sample": foreseen.share})


def start_backfill(
    engine: Engine,
    request: BackfillRequest,
    *,
    foreseen: Foreseen,
    now: datetime,
    created_by: str | None = None,
) -> int:
    """The number of a backfill that the monitor and the workers carry out from now on.

    Args:
        engine: of this process.
        request: what shall be evaluated; `narrow` it first where it has `most_traces`.
        foreseen: the last value of `foresee`.
        now: the present, UTC.
        created_by: who wants it.

    Raises:
        InputError: its last day is before its first.
        DatabaseLostError: it may be started or not.
    """
    if request.until < request.since:
        raise InputError(f"until {request.until} is before since {request.since}")
    most = foreseen.evaluations if request.most_traces is None else request.most_traces
    count = min(foreseen.evaluations, most)
    return create_backfill(engine, request, foreseen=count, created_by=created_by, now=now)


class _FirstDraws:
    """The lowest draws of many, one more than the most that is wanted."""

    def __init__(self, *, most: int | None) -> None:
        self._most = most
        self._highest_first: list[float] = []

    def take(self, candidates: Iterable[Candidate]) -> None:
        """Looks at some more."""
        if self._most is None:
            return
        for one in candidates:
            lowered = -draw(app=one.key.app, trace_id=one.key.trace_id)
            if len(self._highest_first) <= self._most:
                heappush(self._highest_first, lowered)
            else:
                heappushpop(self._highest_first, lowered)

    def find_share(self, sample: float) -> float:
        """Halfway between the last that is taken and the next; `sample` where all are."""
        if self._most is None or len(self._highest_first) <= self._most:
            return sample
        following, last = (-one for one in nsmallest(2, self._highest_first))
        # records of one trace share its draw: of several the most is kept by counting
        return nextafter(last, 1.0) if last == following else (last + following) / 2


def _spread(examples: list[Candidate]) -> tuple[Candidate, ...]:
    step = max(1, len(examples) // MOST_EXAMPLES)
    return tuple(examples[::step][:MOST_EXAMPLES])
