"""Charts as inline SVG: they need no script, scale with the page, and say in words what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.watched import DayMean

WIDTH, HEIGHT = 240, 56
_PAD = 4
_DOT = 2.5


def draw_trend(days: Sequence[DayMean], *, name: str) -> Markup:
    """A line of daily means from 0 (bottom) to 1 (top); days without a score leave no point."""
    if not days:
        return Markup("")
    first, last = days[0].day.toordinal(), days[-1].day.toordinal()
    points = [(_place_x(one.day.toordinal(), first, last), _place_y(one.mean)) for one in days]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    end_x, end_y = points[-1]
    low, high = min(one.mean for one in days), max(one.mean for one in days)
    said = (
        f"{name}: daily mean of {days[0].day:%b %d} to {days[-1].day:%b %d}, from {days[0].mean:.2f} to "
        f"{days[-1].mean:.2f}, lowest {low:.2f}, highest {high:.2f}"
    )
    return Markup(
        '<svg class="trend" viewBox="0 0 {w} {h}" role="img" aria-label="{said}" preserveAspectRatio="none">'
        '<line class="rule" x1="0" x2="{w}" y1="{middle}" y2="{middle}"/>'
        '<polyline points="{line}"/><circle cx="{x}" cy="{y}" r="{r}"/></svg>'
    ).format(
        w=WIDTH, h=HEIGHT, said=said, middle=HEIGHT / 2, line=line, x=f"{end_x:.1f}", y=f"{end_y:.1f}", r=_DOT
    )


def draw_bar(share: float, *, said: str) -> Markup:
    """A bar filled from the left, for a share of 0 to 1."""
    filled = max(0.0, min(1.0, share)) * 100
    return Markup(
        '<svg class="bar" viewBox="0 0 100 6" role="img" aria-label="{said}" preserveAspectRatio="none">'
        '<rect class="track" width="100" height="6"/><rect class="fill" width="{filled}" height="6"/></svg>'
    ).format(said=said, filled=f"{filled:.1f}")


def _place_x(day: int, first: int, last: int) -> float:
    return _PAD + (WIDTH - 2 * _PAD) * ((day - first) / (last - first) if last > first else 1.0)


def _place_y(mean: float) -> float:
    return _PAD + (HEIGHT - 2 * _PAD) * (1.0 - mean)
