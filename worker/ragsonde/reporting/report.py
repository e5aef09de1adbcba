"""What a report to the owners holds, as values; its JSON form is these."""

from __future__ import annotations

from datetime import datetime

from ragsonde_schemas.check import Drift
from ragsonde_schemas.value import Value
from ragsonde_schemas.watched import BINS


class Span(Value):
    """From one moment to another, the first with and the second without; UTC."""

    since: datetime
    until: datetime


class Reason(Value):
    """Why traces have no score, in words, and how many."""

    words: str
    n: int


class JudgeLine(Value):
    """What one judge made of a place's traces: each trace and revision is in exactly one of the three.

    Attributes:
        not_scored: by reason, the commonest first; `sampled_out` and `shed` are among them.
        sampled_out: left out by the judge's sample.
        shed: left out because its budget was spent.
    """

    judge: str
    scored: int
    not_scored: tuple[Reason, ...]
    waiting: int
    sampled_out: int
    shed: int


class Move(Value):
    """How far a mean moved from the span before, in raw scores, with its 95 % interval.

    Attributes:
        lower, upper: None where one of the spans has too few scores.
    """

    before_n: int
    before_mean: float
    difference: float
    lower: float | None
    upper: float | None


class ScorerLine(Value):
    """What one scorer says of a place under one judge; raw scores, 0 to 1.

    Attributes:
        scale: what raw scores are multiplied with for people.
        is_higher_better: else it is compared with its own past alone.
        lower, upper: 95 % interval of the mean; None where too few are scored.
        share: which part of the scores was looked at.
        bins: scores in each tenth, the lowest first; `before_bins` of the span before.
        move: None where the span before has no score by the same judge, model and version.
    """

    scorer: str
    judge: str
    name: str
    question: str
    scale: float
    is_higher_better: bool
    n: int
    mean: float | None
    lower: float | None
    upper: float | None
    unscored: tuple[Reason, ...]
    share: float
    bins: tuple[int, ...] = (0,) * BINS
    before_bins: tuple[int, ...] = (0,) * BINS
    move: Move | None = None


class ReleaseScore(Value):
    """The mean raw score of a release by one scorer and judge."""

    scorer: str
    judge: str
    n: int
    mean: float
    scale: float


class ReleaseLine(Value):
    """A release that was seen."""

    name: str
    traces: int
    first_at: datetime
    last_at: datetime
    scores: tuple[ReleaseScore, ...]


class WorstTrace(Value):
    """One of the traces with the lowest scores; `link` is '' where no page or tracing tool is configured."""

    trace_id: str
    scorer: str
    judge: str
    raw: float
    reason: str
    occurred_at: datetime
    link: str


class PlaceReport(Value):
    """One application in one environment.

    Attributes:
        traces: live ones that occurred then, each revision of them.
        more_releases: so many are not listed.
    """

    app: str
    environment: str
    traces: int
    traces_before: int
    judges: tuple[JudgeLine, ...]
    scorers: tuple[ScorerLine, ...]
    releases: tuple[ReleaseLine, ...]
    more_releases: int
    worst: tuple[WorstTrace, ...]


class FallLine(Value):
    """A fall of scores that was told.

    Attributes:
        words: what fell, by how much and since when.
        drop, drop_lower, drop_upper: raw; None where not known.
        standing: whether it was a page or a warning, and what became of it.
        is_false, is_accepted: what a person called it.
        open_seconds: from when it was told until it was closed, or until the end of the span.
        reason: of the person who closed it; '' where none is given.
        link: '' where no page is configured.
    """

    number: int
    app: str
    environment: str
    scorer: str
    judge: str
    words: str
    drop: float | None
    drop_lower: float | None
    drop_upper: float | None
    standing: str
    is_page: bool
    is_false: bool
    is_accepted: bool
    since: datetime
    opened_at: datetime
    closed_at: datetime | None
    open_seconds: float
    reason: str
    link: str


class PageBudget(Value):
    """Pages of the 365 days up to the report, and how many chance alone makes in a year at most.

    Attributes:
        called_false: of the pages, by a person.
        budget: false pages a year, over all streams together.
    """

    pages: int
    called_false: int
    budget: float


class JudgeCost(Value):
    """What one judge cost; days are whole ones (UTC), by when its evaluations were born.

    Attributes:
        cost_usd: as far as prices are known; None where the price of nothing is.
        unpriced: evaluations with a call whose price is not known: they are not in `cost_usd`.
        traces, judged, sampled_out, shed: as `ragsonde cost` counts them.
    """

    judge: str
    traces: int
    judged: int
    sampled_out: int
    shed: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    unpriced: int


class Change(Value):
    """Something that makes scores before and after it hard to compare, in words."""

    at: datetime | None
    words: str


class AgreementLine(Value):
    """How many contexts two judges called relevant or not alike, of those that both judged."""

    app: str
    judge: str
    against: str
    alike: int
    contexts: int


class OwnersReport(Value):
    """The whole report.

    Attributes:
        app, environment: what it is restricted to; None: all.
        before: the span of the same length that means are compared with.
        more_places: so many with fewer traces are not listed.
        parked: messages of the span that were parked, of all apps, also those that were replayed since.
        brought: traces that backfills brought: they are counted nowhere else.
        kept_days: scores are kept for so long; None where the span before is no older than that.
        more_falls: more than are listed.
        drifts: of the check set, as it stands now.
    """

    app: str | None
    environment: str | None
    span: Span
    before: Span
    made_at: datetime
    places: tuple[PlaceReport, ...]
    more_places: int
    parked: tuple[Reason, ...]
    brought: int
    kept_days: int | None
    falls: tuple[FallLine, ...]
    more_falls: bool
    pages: PageBudget
    costs: tuple[JudgeCost, ...]
    changes: tuple[Change, ...]
    drifts: tuple[Drift, ...]
    agreements: tuple[AgreementLine, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no live trace occurred in the span."""
        return not self.places
