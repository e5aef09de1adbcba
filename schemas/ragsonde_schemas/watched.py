"""What people watch, as values."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Spent
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

TREND_DAYS = 14
BINS = 10
"""Of a histogram of raw scores: each a tenth wide, the last with 1 in it."""

_S = EvaluationState
LOOKED_AT = (_S.SCORED, _S.NOT_EVALUABLE, _S.FAILED)
"""What a judge was asked about, or need not be, and is done with."""
UNFINISHED = (_S.WAITING, _S.RUNNING)


class Place(Value):
    """One application in one environment; `app` is '' where unknown."""

    app: str
    environment: str


class PlaceActivity(Value):
    """What came from a place in the last 24 hours.

    Attributes:
        traces: live ones that occurred then, each revision of them.
        last_at: when the last of them occurred; stored, where its producer's clock is ahead.
    """

    place: Place
    traces: int
    last_at: datetime


class JudgeCounts(Value):
    """What one judge made of traces.

    Attributes:
        states: how many evaluations stand in each.
        causes: how many of those it looked at ended without a number, by cause.
        assessed: of a part of these: of how many it said whether their contexts suffice.
        insufficient: of those, whose contexts do not.
    """

    judge: str
    states: dict[EvaluationState, int] = Field(default_factory=dict)
    causes: dict[Cause, int] = Field(default_factory=dict)
    assessed: int = 0
    insufficient: int = 0

    @property
    def looked_at(self) -> int:
        """Evaluations that ended with a number or with a cause for none: what shares are taken of."""
        return sum(self.states.get(state, 0) for state in LOOKED_AT)

    @property
    def waiting(self) -> int:
        """Evaluations that have not ended."""
        return sum(self.states.get(state, 0) for state in UNFINISHED)


class LedgerSummary(Value):
    """Where every trace of the last 24 hours went.

    Attributes:
        revisions: live ones that occurred then.
        judges: what became of them, one a judge.
    """

    revisions: int
    judges: tuple[JudgeCounts, ...]


class ScoreStream(Value):
    """Scores that may be averaged: one scorer and version, one model that answered."""

    judge: str
    fingerprint: str
    epoch: int
    scorer: str
    version: str


class DayMean(Value):
    """The mean raw score of a day (UTC); of a day with very many scores, of a part of them."""

    day: date
    n: int
    mean: float


class ScorerSummary(Value):
    """What one scorer says of a place's traces under one judge.

    Attributes:
        judge, scorer: as people read them: with what tells the model that answered, basis and options.
        n: how many are scored.
        mean, deviation: of the raw scores in 0..1; None where none is scored.
        below: how many did not pass their threshold; None where there is none.
        unscored: how many have no number, by cause.
        bins: how many raw scores lie in each tenth, from the lowest.
        days: the last two weeks, oldest first; days without a score are left out.
        share: which part of the scores was looked at.
        below_of: of how many scores `below` is; None: of all `n`.
        outcome_share: which part was looked at for `below` and `unscored`, where it is less than that.
    """

    stream: ScoreStream
    judge: str
    scorer: str
    n: int
    mean: float | None
    deviation: float | None
    below: int | None
    unscored: dict[Cause, int]
    bins: tuple[int, ...] = (0,) * BINS
    days: tuple[DayMean, ...] = ()
    share: float = 1.0
    below_of: int | None = None
    outcome_share: float = 1.0


class LowTrace(Value):
    """A trace with one of the lowest scores.

    Attributes:
        record_key: '' for a whole message.
        reason: of that score, in words.
    """

    trace_id: str
    app: str
    record_key: str
    judge: str
    scorer: str
    raw: float
    reason: str
    occurred_at: datetime


class PlaceSummary(Value):
    """What the page shows of one place: of live traces that occurred in the last 24 hours."""

    activity: PlaceActivity
    judges: tuple[JudgeCounts, ...]
    scorers: tuple[ScorerSummary, ...]


class Overview(Value):
    """What the page shows of all places.

    Attributes:
        read_at: when it was read; what it tells is of the 24 hours before.
        places: the busiest first.
        parked: messages that could not be worked on, of all apps, by reason.
        brought: traces that backfills brought, which are counted nowhere else.
    """

    read_at: datetime
    places: tuple[PlaceSummary, ...]
    parked: dict[ParkReason, int]
    brought: int = 0


class Spending(Value):
    """What a judge has spent in the present periods, beside what it may."""

    judge: str
    spent: Spent
    limit: Limit


def find_busiest_judge(scorers: Iterable[ScorerSummary]) -> str:
    """The judge that scored most: it has seen the most traces; '' where there is none."""
    counts: dict[str, int] = defaultdict(int)
    for one in scorers:
        counts[one.stream.judge] += one.n
    return max(sorted(counts), key=lambda name: counts[name], default="")


def add_counts(judge: str, parts: Iterable[JudgeCounts]) -> JudgeCounts:
    """The sums of what one judge made of several places' traces."""
    states: dict[EvaluationState, int] = defaultdict(int)
    causes: dict[Cause, int] = defaultdict(int)
    assessed = insufficient = 0
    for one in parts:
        for state, number in one.states.items():
            states[state] += number
        for cause, number in one.causes.items():
            causes[cause] += number
        assessed, insufficient = assessed + one.assessed, insufficient + one.insufficient
    return JudgeCounts(
        judge=judge, states=dict(states), causes=dict(causes), assessed=assessed, insufficient=insufficient
    )
