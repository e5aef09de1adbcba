"""What people watch, as values."""

from __future__ import annotations

from datetime import date, datetime

from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Spent
from ragsonde_schemas.value import Value


class LedgerSummary(Value):
    """Where every trace that came since some moment went.

    Attributes:
        revisions: how many were accepted.
        judges: for each judge how many evaluations stand in each state.
        parked: messages that could not be worked on, by reason.
    """

    since: datetime
    until: datetime
    revisions: int
    judges: dict[str, dict[EvaluationState, int]]
    parked: dict[ParkReason, int]


class Place(Value):
    """One application in one environment; `app` is '' where unknown."""

    app: str
    environment: str


class PlaceActivity(Value):
    """What came from a place since some moment.

    Attributes:
        revisions: accepted.
        last_admitted_at: when the last of them was stored.
        empty: of these, without any context because retrieval returned none.
    """

    place: Place
    revisions: int
    last_admitted_at: datetime
    empty: int = 0


class DayMean(Value):
    """The mean raw score of a day (UTC); of a day with very many scores, of a part of them."""

    day: date
    n: int
    mean: float


class ScorerSummary(Value):
    """What one scorer says of a place's traces under one judge.

    Attributes:
        instance: name of the scorer, as it is configured.
        judge, scorer: as people read them: with what tells the model that answered, basis and options.
        n: how many are scored.
        mean, deviation: of the raw scores in 0..1; None where none is scored.
        below: how many did not pass their threshold; None where there is none.
        unscored: how many have no number, by cause.
        days: the last two weeks, oldest first; days without a score are left out.
    """

    instance: str
    judge: str
    scorer: str
    n: int
    mean: float | None
    deviation: float | None
    below: int | None
    unscored: dict[Cause, int]
    days: tuple[DayMean, ...] = ()


class LowTrace(Value):
    """A trace with one of the lowest scores.

    Attributes:
        record_key: '' for a whole message.
        reason: of that score, in words.
    """

    trace_id: str
    record_key: str
    judge: str
    scorer: str
    raw: float
    reason: str
    occurred_at: datetime


class Sufficiency(Value):
    """How often contexts lack the answer, as one judge says.

    Attributes:
        assessed: traces of which it was asked.
        insufficient: of these, those whose contexts do not suffice.
    """

    judge: str
    assessed: int
    insufficient: int


class PlaceSummary(Value):
    """What the page shows of one place.

    Attributes:
        waiting: evaluations of its app that wait or run, of any age.
        lowest: traces with the lowest scores of the last day.
    """

    activity: PlaceActivity
    waiting: int
    scorers: tuple[ScorerSummary, ...]
    sufficiency: tuple[Sufficiency, ...]
    lowest: tuple[LowTrace, ...]


class Spending(Value):
    """What a judge has spent in the present periods, beside what it may."""

    judge: str
    spent: Spent
    limit: Limit
