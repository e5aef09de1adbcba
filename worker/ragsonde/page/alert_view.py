"""An alert for people: what it means, what lies behind it now, and the traces that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.wording import say_moment, say_share
from ragsonde.scoring.meanings import CAUSES

if TYPE_CHECKING:
    from ragsonde_schemas.watched import AlertEvidence, WindowCounts


@dataclass(frozen=True, kw_only=True)
class WindowLine:
    """One judge in one stretch of time, as shares of its evaluations.

    Attributes:
        shares: for each cause that occurs in any stretch, in the order of `AlertView.causes`.
    """

    name: str
    judge: str
    evaluations: int
    insufficient: str
    shares: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AlertView:
    """What lies behind an alert.

    Attributes:
        causes: names and meanings of what has no number.
    """

    causes: tuple[tuple[str, str], ...]
    lines: tuple[WindowLine, ...]


_NAMES = ("last hour", "the day before", "the week before")


def view_alert(evidence: AlertEvidence) -> AlertView:
    """Shares of causes, now beside the day and the week before."""
    causes = sorted(
        {cause for one in evidence.windows for cause in one.causes}, key=lambda cause: cause.value
    )
    starts = sorted({one.since for one in evidence.windows}, reverse=True)
    return AlertView(
        causes=tuple((cause.value.replace("_", " "), CAUSES[cause]) for cause in causes),
        lines=tuple(
            WindowLine(
                name=_name(one, starts.index(one.since), len(starts)),
                judge=one.judge,
                evaluations=one.evaluations,
                insufficient=say_share(one.insufficient, one.assessed) if one.assessed else "not asked",
                shares=tuple(say_share(one.causes.get(cause, 0), one.evaluations) for cause in causes),
            )
            for one in evidence.windows
        ),
    )


def _name(counts: WindowCounts, place: int, windows: int) -> str:
    """Windows in which nothing came are not among them: then they are named by their times."""
    if windows == len(_NAMES):
        return _NAMES[place]
    return f"{say_moment(counts.since)} to {say_moment(counts.until)}"
