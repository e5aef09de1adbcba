"""An alert for people: what it means, what lies behind it now, what is new, and the traces that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.scorer_cards import draw_bins, say_interval, say_mean
from ragsonde.page.wording import describe_cause, say_age, say_moment, say_name, say_part, say_share
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.watched_alert import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from markupsafe import Markup

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.watched import Place, ScorerSummary
    from ragsonde_schemas.watched_alert import AlertEvidence, Change, WindowCounts


@dataclass(frozen=True, kw_only=True)
class WindowLine:
    """One judge in one stretch of time.

    Attributes:
        looked_at: evaluations that ended with a number or a cause for none: what the shares are of.
        left_out: those that it was to look at and did not, or not yet.
        shares: for each cause that occurs in any stretch, in the order of `AlertView.causes`.
    """

    name: str
    judge: str
    looked_at: str
    part: str
    scored: str
    insufficient: str
    left_out: str
    shares: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A stream's scores in one stretch of time."""

    mean: str
    interval: str
    n: str
    histogram: Markup


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A scorer of the last 24 hours beside the last hour; None where it scored nothing in it."""

    name: str
    before: Distribution | None
    now: Distribution | None


@dataclass(frozen=True, kw_only=True)
class ChangeLine:
    """Something new."""

    what: str
    name: str
    age: str


@dataclass(frozen=True, kw_only=True)
class AlertView:
    """What lies behind an alert.

    Attributes:
        causes: names and meanings of what has no number.
    """

    causes: tuple[tuple[str, str], ...]
    lines: tuple[WindowLine, ...]
    comparisons: tuple[Comparison, ...]
    changes: tuple[ChangeLine, ...]


_S = EvaluationState
_NAMES = ("last hour", "the day before", "the week before")
_CHANGED = {
    ChangeKind.RELEASE: "release",
    ChangeKind.JUDGE: "judge",
    ChangeKind.MODEL: "model that answers",
    ChangeKind.RULE: "extraction rule",
    ChangeKind.VERSION: "version of a scorer that counts",
}


def view_alert(
    evidence: AlertEvidence,
    *,
    before: Sequence[ScorerSummary] = (),
    scorers: Mapping[str, Scorer],
    now: datetime,
) -> AlertView:
    """Shares of causes and distributions, now beside before, and what is new.

    Args:
        evidence: as read.
        before: the scorers of the last 24 hours.
        scorers: the configured ones, by instance name.
        now: what ages are reckoned from.
    """
    causes = sorted(
        {cause for one in evidence.windows for cause in one.counts.causes}, key=lambda cause: cause.value
    )
    starts = sorted({one.since for one in evidence.windows}, reverse=True)
    return AlertView(
        causes=tuple((say_name(cause.value), describe_cause(cause)) for cause in causes),
        lines=tuple(
            _make_line(one, causes, name=_name(one, starts.index(one.since), len(starts)))
            for one in evidence.windows
        ),
        comparisons=()
        if evidence.place is None
        else _compare(before, evidence.scorers, place=evidence.place, scorers=scorers),
        changes=tuple(_tell(one, now=now) for one in evidence.changes),
    )


def _make_line(window: WindowCounts, causes: Sequence[Cause], *, name: str) -> WindowLine:
    counts = window.counts
    looked_at = counts.looked_at
    left_out = [
        f"{number:,} {words}"
        for number, words in ((counts.states.get(_S.SHED, 0), "shed"), (counts.waiting, "waiting"))
        if number
    ]
    return WindowLine(
        name=name,
        judge=counts.judge,
        looked_at=f"{looked_at:,}",
        part=say_part(window.share),
        scored=say_share(counts.states.get(_S.SCORED, 0), looked_at) if looked_at else "-",
        insufficient=say_share(counts.insufficient, counts.assessed) if counts.assessed else "not asked",
        left_out=", ".join(left_out) or "none",
        shares=tuple(
            say_share(counts.causes.get(cause, 0), looked_at) if looked_at else "-" for cause in causes
        ),
    )


def _name(window: WindowCounts, place: int, windows: int) -> str:
    """Windows in which nothing came are not among them: then they are named by their times."""
    if windows == len(_NAMES):
        return _NAMES[place]
    return f"{say_moment(window.since)} to {say_moment(window.until)}"


def _compare(
    before: Sequence[ScorerSummary],
    latest: Sequence[ScorerSummary],
    *,
    place: Place,
    scorers: Mapping[str, Scorer],
) -> tuple[Comparison, ...]:
    earlier = {one.stream: one for one in before if one.n}
    later = {one.stream: one for one in latest if one.n}
    streams = [*earlier, *(stream for stream in later if stream not in earlier)]
    return tuple(
        Comparison(
            name=f"{named.scorer} by {named.judge}",
            before=_distribute(earlier.get(stream), scorers, place=place, recent=True),
            now=_distribute(later.get(stream), scorers, place=place, recent=False),
        )
        for stream in streams
        if (named := earlier.get(stream) or later[stream])
    )


def _distribute(
    summary: ScorerSummary | None, scorers: Mapping[str, Scorer], *, place: Place, recent: bool
) -> Distribution | None:
    if summary is None:
        return None
    scorer = scorers.get(summary.stream.scorer)
    part = say_part(summary.share)
    return Distribution(
        mean=say_mean(summary, scorer),
        interval=say_interval(summary, scorer),
        n=f"{summary.n:,} scores" + (f" ({part})" if part else ""),
        histogram=draw_bins(summary, place=place, recent=recent),
    )


def _tell(change: Change, *, now: datetime) -> ChangeLine:
    return ChangeLine(what=_CHANGED[change.kind], name=change.name, age=say_age(change.since, now=now))
