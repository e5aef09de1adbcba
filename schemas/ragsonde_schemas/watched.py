"""What people watch, as values."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

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
    """

    place: Place
    revisions: int
    last_admitted_at: datetime


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


class WindowCounts(Value):
    """What one judge made of a place's traces in a stretch of time.

    Attributes:
        evaluations: born in it; those that were superseded count no more.
        causes: how many ended without a number, by cause.
        assessed: of these the judge said whether their contexts suffice.
        insufficient: of those, whose contexts do not.
    """

    since: datetime
    until: datetime
    judge: str
    evaluations: int = 0
    causes: dict[Cause, int] = Field(default_factory=dict)
    assessed: int = 0
    insufficient: int = 0


class Sign(StrEnum):
    """What the example traces of an alert show."""

    EMPTY_RETRIEVAL = "empty_retrieval"
    NO_CONTEXT = "no_context"
    INSUFFICIENT = "insufficient"
    FAILED = "failed"
    LEFT_OUT = "left_out"
    """shed, or still waiting"""
    NONE = "none"
    """traces cannot show it"""


class ExampleTrace(Value):
    """A trace that shows what an alert is about; `record_key` is '' for a whole message."""

    trace_id: str
    record_key: str
    occurred_at: datetime
    release: str


class AlertEvidence(Value):
    """What lies behind an alert about a place, read when somebody looks.

    Attributes:
        windows: the last hour, the day before it, the week before that; one a judge each.
        examples: newest first.
    """

    place: Place
    windows: tuple[WindowCounts, ...]
    examples: tuple[ExampleTrace, ...]


class PlaceSummary(Value):
    """What the page shows of one place.

    Attributes:
        waiting: evaluations of its app that wait or run, of any age.
        counts: of the last day, one a judge.
        lowest: traces with the lowest scores of the last day.
    """

    activity: PlaceActivity
    waiting: int
    scorers: tuple[ScorerSummary, ...]
    counts: tuple[WindowCounts, ...]
    lowest: tuple[LowTrace, ...]


class Spending(Value):
    """What a judge has spent in the present periods, beside what it may."""

    judge: str
    spent: Spent
    limit: Limit
