"""One detection on a made-up stream as `docs/images/detection.svg`: `make detection-picture`.

Above the hourly mean, the baseline and the fall; below the evidence and its two thresholds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from score_streams import DAY, Change, draw_stream
from trials import WEEK, count

from ragsonde.regression.alert_state import EventKind, StreamState, step_state
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY, BLOCKS_PER_HOUR
from ragsonde.regression.evidence import count_evidence_days, grow_blocks
from ragsonde.regression.recovery import grow_recovery
from ragsonde.regression.replay import replay
from ragsonde.regression.threshold import PAGE_DAYS, WARN_DAYS, find_log_blocks

FILE = Path(__file__).parents[3] / "docs/images/detection.svg"
FIRST_DAY, LAST_DAY = 6.0, 9.5
LEFT, RIGHT = 70, 880
MEAN_TOP, MEAN_BOTTOM = 50, 250
SUM_TOP, SUM_BOTTOM = 300, 420
LOWEST, HIGHEST = 0.5, 0.95
_OPENING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 470" font-family="sans-serif" font-size="13">'
)
MOST_DAYS = 4.0
"""Powers of ten of days at the top of the evidence."""


def draw_detection() -> str:
    """The picture as SVG: the same for the same detector."""
    change = (WEEK + 1.25) * DAY
    stream = draw_stream(np.random.default_rng(11), LAST_DAY, 10, change=Change(change, 0.15))
    counts = count(stream)
    found = replay(counts)
    warned, paged = (
        next(event for event in found.events if event.kind is kind)
        for kind in (EventKind.WARN, EventKind.PAGE)
    )
    since = paged.explanation.since / BLOCKS_PER_DAY
    baseline = paged.baseline
    mean = float((baseline.means * baseline.traces).sum() / baseline.traces.sum())
    hours = np.arange(int(FIRST_DAY * 24), int(LAST_DAY * 24))
    of_hour = [stream.score[(stream.seconds >= h * 3600) & (stream.seconds < (h + 1) * 3600)] for h in hours]
    means = [((h + 0.5) / 24, float(of.mean())) for h, of in zip(hours, of_hour, strict=True) if of.size]
    marks = (
        (change / DAY, "the fall", "#555555"),
        (since, "", "#999999"),
        ((warned.block + 1) / BLOCKS_PER_DAY, "warning", "#b7791f"),
        ((paged.block + 1) / BLOCKS_PER_DAY, "page", "#c53030"),
    )
    lines = [
        _OPENING,
        "<title>A fall of scores, and how it is found</title>",
        '<rect width="900" height="470" fill="#ffffff"/>',
        _write(LEFT, 25, "mean score of each hour", "#222222"),
        _write(LEFT, 290, "evidence of a fall, in days without one that such evidence takes", "#222222"),
        _band(_height(mean), _height(mean - 0.05)),
        _write(LEFT + 5, _height(mean - 0.05) + 14, "the baseline's mean, and .05 below", "#2b6cb0"),
        _line([(_across(day), _height(value)) for day, value in means], "#2d3748"),
        _line([(_across(day), _evidence(days)) for day, days in _follow(counts, baseline)], "#805ad5"),
    ]
    lines += [
        _write(LEFT - 35, _height(value) + 4, f"{value:.1f}", "#555555")
        for value in (0.5, 0.6, 0.7, 0.8, 0.9)
    ]
    for days, color in ((WARN_DAYS, "#b7791f"), (PAGE_DAYS, "#c53030")):
        lines.append(_line([(LEFT, _evidence(days)), (RIGHT, _evidence(days))], color))
        lines.append(_write(LEFT - 45, _evidence(days) + 4, f"{days:,.0f}", color))
    for step, (day, name, color) in enumerate(marks):
        lines.append(_line([(_across(day), MEAN_TOP - 8), (_across(day), SUM_BOTTOM)], color))
        if name:
            lines.append(_write(_across(day) + 4, MEAN_TOP - 12 + 14 * step, name, color))
    shown = range(int(FIRST_DAY), int(LAST_DAY) + 1)
    lines += [_write(_across(day), SUM_BOTTOM + 20, f"day {day}", "#555555") for day in shown]
    told = (
        f"paged {(paged.block + 1) / 12 - change / 3600:.1f} h after the fall of .15; since when: "
        f"{abs(since - change / DAY) * 1440:.0f} min off; drop {paged.explanation.drop:.2f} "
        f"({paged.explanation.drop_lower:.2f} to {paged.explanation.drop_upper:.2f})"
    )
    return "\n".join([*lines, _write(LEFT, SUM_BOTTOM + 42, told, "#222222"), "</svg>", ""])


def _follow(counts, baseline) -> list[tuple[float, float]]:
    """Days of evidence after each hour that is judged by the pinned baseline."""
    judged = counts.between(int(WEEK * BLOCKS_PER_DAY), int(LAST_DAY * BLOCKS_PER_DAY))
    blocks, growth = grow_blocks(judged, baseline)
    _, recovery = grow_recovery(judged, baseline)
    state, points = StreamState(), []
    for place, block in enumerate(blocks.tolist()):
        state, _ = step_state(
            state,
            block=block,
            growth=growth[place],
            recovery=recovery[place],
            log_page=find_log_blocks(PAGE_DAYS),
        )
        if block % BLOCKS_PER_HOUR == 0:
            points.append(((block + 1) / BLOCKS_PER_DAY, count_evidence_days(state.log_evidence)))
    return points


def _across(day: float) -> float:
    return LEFT + (day - FIRST_DAY) / (LAST_DAY - FIRST_DAY) * (RIGHT - LEFT)


def _height(score: float) -> float:
    return MEAN_BOTTOM - (score - LOWEST) / (HIGHEST - LOWEST) * (MEAN_BOTTOM - MEAN_TOP)


def _evidence(days: float) -> float:
    power = np.clip(np.log10(max(days, 1e-9)), -1, MOST_DAYS)
    return float(SUM_BOTTOM - (power + 1) / (MOST_DAYS + 1) * (SUM_BOTTOM - SUM_TOP))


def _line(points: list[tuple[float, float]], color: str) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-width="1.5"/>'


def _band(top: float, bottom: float) -> str:
    place = f'x="{LEFT}" y="{top:.1f}" width="{RIGHT - LEFT}" height="{bottom - top:.1f}"'
    return f'<rect {place} fill="#bee3f8"/>'


def _write(x: float, y: float, words: str, color: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}">{words}</text>'


if __name__ == "__main__":
    FILE.write_text(draw_detection())
    sys.exit(0)
