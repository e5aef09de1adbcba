# ruff: noqa: T201  # a program that prints a table
"""How coarse RagsondeRegressionFallback is, on the streams of the detector's benchmark.

Prints the table of its runbook. The limits are those of deploy/prometheus/rules/thresholds.yaml.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from score_streams import DAY, draw_stream
from trials import WEEK, draw_changed, draw_mix_shift
from usual_rules import BLOCK, HourlyFigures

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from score_streams import Stream

    Floats = NDArray[np.float64]

THRESHOLDS = Path(__file__).parents[3] / "deploy" / "prometheus" / "rules" / "thresholds.yaml"
SEED = 20_261_130
MONTH, CHANGED, SHIFTED = 30.0, 40, 24
QUIET = {1.0: 40, 10.0: 20}
"""Stream-months without a change, by traces a minute."""
A_DAY, A_WEEK = 288, 7 * 288
HELD = 3
"""Evaluations, five minutes apart, in which it must hold: ten minutes."""


def read_limit(name: str) -> float:
    """The number of a threshold of the rule."""
    found = re.search(rf"ragsonde:fallback_{name}:limit\n +expr: vector\((.+)\)", THRESHOLDS.read_text())
    assert found is not None, name
    return float(found[1])


def find_firings(stream: Stream, days: float) -> Floats:
    """Seconds at which the alert begins, as its rules say: the week before ends a day ago."""
    figures = HourlyFigures(stream, days)
    is_there = figures.traces > 0
    sums = np.concatenate([[0.0], np.cumsum(np.where(is_there, figures.mean, 0.0))])
    hours = np.concatenate([[0], np.cumsum(is_there)])
    until = np.maximum(np.arange(is_there.size) - A_DAY, 0)
    since = np.maximum(until - A_WEEK, 0)
    expected = (sums[until] - sums[since]) / np.maximum(hours[until] - hours[since], 1)
    drop = expected - figures.mean
    error = np.sqrt(np.clip(expected * (1 - expected), 0, None) / np.maximum(figures.traces, 1))
    holds = (drop > read_limit("drop")) & (drop > read_limit("noise") * error)
    holds &= (figures.traces >= read_limit("scores")) & (np.arange(holds.size) >= A_WEEK + A_DAY)
    firing = np.convolve(holds, np.ones(HELD), mode="full")[: holds.size] == HELD
    begins = firing & ~np.concatenate([[False], firing[:-1]])
    return (np.flatnonzero(begins) + 1.0) * BLOCK


def measure(per_minute: float) -> list[str]:
    """A column of the table."""
    random = np.random.default_rng([SEED, int(per_minute)])
    days = WEEK + 1 + MONTH
    fired = sum(
        find_firings(draw_stream(random, days, per_minute), days).size for _ in range(QUIET[per_minute])
    )
    cells = [f"{fired} times in {QUIET[per_minute]} months"]
    for drop in (0.20, 0.10):
        hours = []
        for _ in range(CHANGED):
            stream, change = draw_changed(random, days=WEEK + 3.5, per_minute=per_minute, drop=drop)
            told = find_firings(stream, WEEK + 3.5)
            told = told[(told >= change) & (told < change + DAY)]
            hours.append((told[0] - change) / 3600 if told.size else np.inf)
        found = np.isfinite(hours)
        cells.append(f"{found.sum()} of {CHANGED}, after {np.median(np.array(hours)[found]):.1f} h")
    shifted = sum(
        find_firings(draw_mix_shift(random, days=WEEK + 4, per_minute=per_minute), WEEK + 4).size > 0
        for _ in range(SHIFTED)
    )
    return [*cells, f"{shifted} of {SHIFTED}"]


def main() -> None:
    """Prints it."""
    rows = (
        "fires though nothing changed, one stream",
        "falls of .20 that are found within a day",
        "falls of .10 that are found within a day",
        "shifts to harder questions that are taken for a fall",
    )
    columns = [measure(per_minute) for per_minute in QUIET]
    print("| | a trace a minute | ten a minute |\n| --- | --- | --- |")
    for row, *cells in zip(rows, *columns, strict=True):
        print(f"| {' | '.join((row, *cells))} |")


if __name__ == "__main__":
    main()
