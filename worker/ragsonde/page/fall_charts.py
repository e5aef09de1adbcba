"""Pictures of a fall: the course of the means around its beginning, and how far it fell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ragsonde.page.wording import say_drop, say_moment, say_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from ragsonde_schemas.watched_fall import MeanPoint

WIDTH, HEIGHT = 480, 120
_PAD = 6
_LEAST_SPAN = 0.1
"""Of the means: less is drawn flat, so that what is only chance does not look like a fall."""
_BAR_WIDTH, _BAR_HEIGHT = 480, 24


class Course(NamedTuple):
    """A picture, and what its lower and upper edge stand for, on the scorer's scale."""

    picture: Markup
    lower: str
    upper: str


def draw_course(
    points: Sequence[MeanPoint],
    *,
    step: timedelta,
    since: datetime,
    baseline: float | None,
    scale: float,
    name: str,
) -> Course | None:
    """The means, a dot each and a line where they follow each other; None where there is none.

    Args:
        points: the oldest first.
        step: how long each is.
        since: when the fall began.
        baseline: the mean that it is compared with.
        scale: of the scorer.
        name: of the stream, for who hears the picture.
    """
    if not points:
        return None
    first, last = min(points[0].start, since), max(points[-1].start + step, since)
    means = [one.mean for one in points] + ([] if baseline is None else [baseline])
    lower, upper = _find_range(means)

    def place_x(moment: datetime) -> float:
        return _PAD + (WIDTH - 2 * _PAD) * ((moment - first) / (last - first))

    def place_y(mean: float) -> float:
        return _PAD + (HEIGHT - 2 * _PAD) * (upper - mean) / (upper - lower)

    parts = [_draw_beginning(place_x(since))]
    if baseline is not None:
        parts.append(_draw_level(place_y(baseline)))
    for run in _split(points, step=step):
        placed = [(place_x(one.start + step / 2), place_y(one.mean)) for one in run]
        parts.append(
            Markup('<polyline points="{}"/>').format(" ".join(f"{x:.1f},{y:.1f}" for x, y in placed))
        )
        parts += [
            Markup('<path class="dot" d="M{},{}h0"/>').format(f"{x:.1f}", f"{y:.1f}") for x, y in placed
        ]
    said = _say(points, since=since, baseline=baseline, scale=scale, name=name)
    picture = Markup(
        '<svg class="course" viewBox="0 0 {w} {h}" role="img" aria-label="{said}" '
        'preserveAspectRatio="none">{parts}</svg>'
    ).format(w=WIDTH, h=HEIGHT, said=said, parts=Markup("").join(parts))
    return Course(picture, say_score(lower * scale), say_score(upper * scale))


def draw_drop(drop: float, *, lower: float, upper: float, scale: float) -> Markup:
    """How far it fell, between the ends of its interval; the line at the left is no fall at all."""
    least, most = min(0.0, lower), max(upper, drop, 0.0)
    span = (most - least) * 1.1 or 1.0

    def place(value: float) -> float:
        return _PAD + (_BAR_WIDTH - 2 * _PAD) * (value - least) / span

    ends = f"{say_drop(lower * scale)} and {say_drop(upper * scale)}"
    said = f"fell by {say_drop(drop * scale)}, likely between {ends}"
    return Markup(
        '<svg class="drop" viewBox="0 0 {w} {h}" role="img" aria-label="{said}" preserveAspectRatio="none">'
        '<line class="axis" x1="{zero}" x2="{zero}" y1="0" y2="{h}"/>'
        '<rect class="likely" x="{x}" y="6" width="{width}" height="12"/>'
        '<line class="found" x1="{found}" x2="{found}" y1="1" y2="23"/></svg>'
    ).format(
        w=_BAR_WIDTH,
        h=_BAR_HEIGHT,
        said=said,
        zero=f"{place(0.0):.1f}",
        x=f"{place(lower):.1f}",
        width=f"{place(upper) - place(lower):.1f}",
        found=f"{place(drop):.1f}",
    )


def _find_range(means: Sequence[float]) -> tuple[float, float]:
    """In 0..1, a little wider than the means."""
    middle = (min(means) + max(means)) / 2
    half = max(_LEAST_SPAN, (max(means) - min(means)) * 1.1) / 2
    lower, upper = max(0.0, middle - half), min(1.0, middle + half)
    return lower, max(upper, lower + 0.01)


def _split(points: Sequence[MeanPoint], *, step: timedelta) -> list[list[MeanPoint]]:
    """Runs without a gap."""
    runs: list[list[MeanPoint]] = []
    for one in points:
        if runs and one.start - runs[-1][-1].start == step:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _draw_level(y: float) -> Markup:
    return Markup('<line class="level" x1="0" x2="{w}" y1="{y}" y2="{y}"/>').format(w=WIDTH, y=f"{y:.1f}")


def _draw_beginning(x: float) -> Markup:
    return Markup('<line class="since" x1="{x}" x2="{x}" y1="0" y2="{h}"/>').format(x=f"{x:.1f}", h=HEIGHT)


def _say(
    points: Sequence[MeanPoint], *, since: datetime, baseline: float | None, scale: float, name: str
) -> str:
    parts = [f"{name}: {len(points)} means"]
    for words, chosen in (
        ("before the fall", [one for one in points if one.start < since]),
        ("since then", [one for one in points if one.start >= since]),
    ):
        total = sum(one.n for one in chosen)
        if total:
            mean = sum(one.mean * one.n for one in chosen) / total
            parts.append(f"{say_score(mean * scale)} on average {words}")
    if baseline is not None:
        parts.append(f"baseline {say_score(baseline * scale)}")
    parts.append(f"the fall began at {say_moment(since)}")
    return ", ".join(parts)
