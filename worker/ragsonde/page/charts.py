"""Charts as inline SVG: they need no script, scale with the page, and say in words what they show."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ragsonde_schemas.watched import BINS, TREND_DAYS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from ragsonde_schemas.watched import DayMean

WIDTH, HEIGHT = 240, 56
_PAD = 4
_LEAST_BAR = 1.5
"""What is there is seen, however little it is."""


def draw_trend(days: Sequence[DayMean], *, until: date, name: str) -> Markup:
    """Daily means from 0 (bottom) to 1 (top) over the two weeks up to a day.

    The axis is always as long; a day without a score is a gap in the line. '' where there is none at all.
    """
    first = until - timedelta(days=TREND_DAYS - 1)
    shown = [one for one in days if first <= one.day <= until]
    if not shown:
        return Markup("")
    runs: list[list[DayMean]] = []
    for one in shown:
        if runs and (one.day - runs[-1][-1].day).days == 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    low, high = min(one.mean for one in shown), max(one.mean for one in shown)
    missing = TREND_DAYS - len(shown)
    said = (
        f"{name}: daily mean of {len(shown)} of {TREND_DAYS} days up to {until:%b %d}, from "
        f"{shown[0].mean:.2f} to {shown[-1].mean:.2f}, lowest {low:.2f}, highest {high:.2f}"
        + (f", none on {missing}" if missing else "")
    )
    parts = Markup("").join(_draw_run(run, first=first) for run in runs)
    return Markup(
        '<svg class="trend" viewBox="0 0 {w} {h}" role="img" aria-label="{said}" preserveAspectRatio="none">'
        '<line class="rule" x1="0" x2="{w}" y1="{middle}" y2="{middle}"/>{parts}</svg>'
    ).format(w=WIDTH, h=HEIGHT, said=said, middle=HEIGHT / 2, parts=parts)


class BinLink(NamedTuple):
    """One bar of a histogram.

    Attributes:
        n: how many scores it stands for.
        link: where their traces are listed; '' for a bar that leads nowhere.
    """

    n: int
    link: str = ""


def draw_histogram(bins: Sequence[BinLink], *, name: str) -> Markup:
    """A bar for each tenth of the raw scores, the lowest left; a click leads to the traces of a bar."""
    total, most = sum(one.n for one in bins), max((one.n for one in bins), default=0)
    if not total:
        return Markup("")
    bars = Markup("").join(_draw_bin(place, one, total=total, most=most) for place, one in enumerate(bins))
    said = f"{name}: {total:,} scores by tenths, from 0 to 1: {', '.join(f'{one.n:,}' for one in bins)}"
    return Markup(
        '<svg class="histogram" viewBox="0 0 {w} {h}" role="group" aria-label="{said}" '
        'preserveAspectRatio="none">'
        '{bars}<line class="axis" x1="0" x2="{w}" y1="{h}" y2="{h}"/></svg>'
    ).format(w=WIDTH, h=HEIGHT, said=said, bars=bars)


def draw_bar(share: float, *, said: str) -> Markup:
    """A bar filled from the left, for a share of 0 to 1."""
    filled = max(0.0, min(1.0, share)) * 100
    return Markup(
        '<svg class="bar" viewBox="0 0 100 6" role="img" aria-label="{said}" preserveAspectRatio="none">'
        '<rect class="track" width="100" height="6"/><rect class="fill" width="{filled}" height="6"/></svg>'
    ).format(said=said, filled=f"{filled:.1f}")


def _draw_run(run: Sequence[DayMean], *, first: date) -> Markup:
    points = [(_place_x((one.day - first).days), _place_y(one.mean)) for one in run]
    line = Markup('<polyline points="{}"/>').format(" ".join(f"{x:.1f},{y:.1f}" for x, y in points))
    end_x, end_y = points[-1]
    dot = Markup('<path class="dot" d="M{},{}h0"/>').format(f"{end_x:.1f}", f"{end_y:.1f}")
    return line + dot


def _draw_bin(place: int, one: BinLink, *, total: int, most: int) -> Markup:
    if not one.n:
        return Markup("")
    width = WIDTH / BINS
    height = max(_LEAST_BAR, (HEIGHT - 2 * _PAD) * one.n / most)
    upper = f"{(place + 1) / BINS:g}"
    said = f"{place / BINS:g} to {upper}: {one.n:,} of {total:,}"
    bar = Markup('<rect x="{x}" y="{y}" width="{w}" height="{h}"><title>{said}</title></rect>').format(
        x=f"{place * width + 1:.1f}",
        y=f"{HEIGHT - height:.1f}",
        w=f"{width - 2:.1f}",
        h=f"{height:.1f}",
        said=said,
    )
    if not one.link:
        return bar
    return Markup('<a href="{link}" aria-label="{said}">{bar}</a>').format(link=one.link, said=said, bar=bar)


def _place_x(offset: int) -> float:
    return _PAD + (WIDTH - 2 * _PAD) * offset / (TREND_DAYS - 1)


def _place_y(mean: float) -> float:
    return _PAD + (HEIGHT - 2 * _PAD) * (1.0 - mean)
