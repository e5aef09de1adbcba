"""What people read of the watch for falls: how it stands with each stream, and falls that were told."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.value import Value


class WatchState(StrEnum):
    """How it stands with a stream, the worst first."""

    FELL = "fell"
    """a fall is told that was worth a page"""
    SUSPECTED = "suspected"
    """a fall is told that is a warning"""
    HELD = "held"
    """what came last brought no evidence, for a reason that is told"""
    UNWATCHED = "unwatched"
    """there is a baseline, and none of its scores has room to fall, or too little is known of them"""
    ARMING = "arming"
    """there is no baseline yet"""
    STEADY = "steady"


class WaitsFor(StrEnum):
    """What a stream without a baseline waits for."""

    TRACES = "traces"
    """live ones, and that its first days pass"""
    BACKFILL = "backfill"
    """stored traces are judged by its judge"""
    RESCORE = "rescore"
    """stored verdicts are scored by its scorer"""
    CHOICE = "choice"
    """its first days brought too few traces: a person gives a floor or pins a baseline"""


class Arming(Value):
    """How far a stream is on its way to a baseline.

    Attributes:
        share: the part that is done, 0 to 1.
        traces, needed: that it has, and that a baseline takes; of stored ones that are scored, those and all.
        since: when it began.
    """

    share: float
    traces: int
    needed: int
    since: datetime
    waits_for: WaitsFor = WaitsFor.TRACES


class StreamWatch(Value):
    """How it stands with one stream.

    Attributes:
        fall: number of the fall that is open.
        since, drop, drop_lower, drop_upper: of that fall; None where none is open.
        evidence_days: chance alone shows such a fall about once in so many, as it was told; None without one.
        judged_since: since when it has had a baseline; None without one.
        fell_until: when its last fall ended, but for those that a person called false; None of none.
        is_acked: a person knows of it.
        hold: why what came last brought no evidence; None where it did.
        smallest_drop: the smallest fall that its baseline would show; None without one, or if none would.
        baseline_kind: None without one.
        arming: None with a baseline, or where it is not known how far it is.
    """

    stream: ScoreStream
    state: WatchState
    fall: int | None = None
    since: datetime | None = None
    drop: float | None = None
    drop_lower: float | None = None
    drop_upper: float | None = None
    evidence_days: float | None = None
    judged_since: datetime | None = None
    fell_until: datetime | None = None
    is_acked: bool = False
    hold: str | None = None
    smallest_drop: float | None = None
    baseline_kind: str | None = None
    arming: Arming | None = None


class FallWatch(Value):
    """How it stands with all streams.

    Attributes:
        judged_until: what occurred before is judged; None where nothing ever was.
        streams: that scored in the last day, and those of which a fall is open.
    """

    judged_until: datetime | None = None
    streams: tuple[StreamWatch, ...] = ()


class FallState(StrEnum):
    """Which falls a list shows."""

    OPEN = "open"
    CLOSED = "closed"
    PAGE = "page"
    """that were worth a page, open or not"""
    FALSE = "false"
    """that a person called false"""
    ALL = "all"


class FallFilter(Value):
    """Which falls are listed; what is None chooses nothing."""

    app: str | None = None
    environment: str | None = None
    state: FallState = FallState.ALL


class Fall(Value):
    """A fall that was told.

    Attributes:
        number: by which commands name it.
        kind: `warn`, `page` once it was one, `resolve` once it ended by recovery.
        opened_at: the end of the five minutes that raised it; `paged_at` of those that made it a page.
        since: when it began, by what was known then.
        closed_at: when it recovered, a person closed it, or its stream was put away; None while it is open.
        reason: of the person who accepted it or called it false, or why its stream was put away.
        explanation: numbers, names and ids of traces, as `ragsonde.watching.explanation` describes them.
    """

    number: int
    stream: ScoreStream
    kind: str
    opened_at: datetime
    paged_at: datetime | None = None
    since: datetime
    closed_at: datetime | None = None
    told_at: datetime
    acked_at: datetime | None = None
    accepted_at: datetime | None = None
    false_at: datetime | None = None
    reason: str | None = None
    explanation: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether it still stands."""
        return self.closed_at is None

    @property
    def has_recovered(self) -> bool:
        """Whether it ended by as good evidence that scores are up again; closed may also be what is not."""
        return self.kind == "resolve"

    @property
    def is_page(self) -> bool:
        """Whether it was ever more than a warning."""
        return self.paged_at is not None


class FallList(Value):
    """Falls, the open ones first, then the newest.

    Attributes:
        has_more: there are more than are listed.
        pages: of the last year, by the same app and environment.
        false_pages: how many of these a person called false.
        page_days: chance alone pages once in so many days at most, all streams together.
    """

    falls: tuple[Fall, ...] = ()
    has_more: bool = False
    pages: int = 0
    false_pages: int = 0
    page_days: float = 365.0


class MeanPoint(Value):
    """The mean raw score of a stretch of time that begins then."""

    start: datetime
    n: int
    mean: float


class ScoreSpread(Value):
    """How many scores of a stretch of time lie in each tenth, the lowest first."""

    since: datetime
    until: datetime
    bins: tuple[int, ...]


class FallDetail(Value):
    """A fall with the means around its beginning.

    Attributes:
        step_seconds: how long each stretch is.
        points: the oldest first; stretches without a score are left out.
        threshold_days: evidence that a page needs now; None where it cannot be told.
        before: of the time that its baseline is made of; None where none of that is kept.
        after: since it began, at most 28 days; None where none of that is kept.
    """

    fall: Fall
    step_seconds: int
    points: tuple[MeanPoint, ...] = ()
    threshold_days: float | None = None
    before: ScoreSpread | None = None
    after: ScoreSpread | None = None
