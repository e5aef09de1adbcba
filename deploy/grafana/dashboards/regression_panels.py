"""What the detector found: open falls with their intervals, evidence, and baselines beside what is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.expressions import STREAM, read
from dashboards.panels import (
    BAD,
    COUNT,
    DAYS,
    FULL,
    GOOD,
    LOW_HEIGHT,
    NOTICE,
    PLAIN_NUMBER,
    Frame,
    Panel,
    draw_lines,
    show_numbers,
)
from dashboards.queries import PromQuery
from dashboards.score_expressions import average_scores
from ragsonde.exposition.series import (
    REGRESSION_BASELINE_MEAN,
    REGRESSION_DROP,
    REGRESSION_DROP_LOWER,
    REGRESSION_DROP_UPPER,
    REGRESSION_EVIDENCE,
    REGRESSION_PAGE_THRESHOLD,
    REGRESSION_STATE,
    SCORE_MEAN_LOWER,
    SCORE_MEAN_UPPER,
)
from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PROVISIONAL
from ragsonde.regression.threshold import WARN_DAYS

if TYPE_CHECKING:
    from ragsonde.exposition.declaration import Declaration

_BY = ("app", "environment", "scorer", "judge")
_NAME = "{{app}} {{environment}} {{scorer}} by {{judge}}"
_LEAST_DAYS = 0.01
"""A scale of powers has no 0."""


def show_falls() -> tuple[Panel, ...]:
    """A row of what the watch for regressions says."""
    drop = (REGRESSION_DROP, ""), (REGRESSION_DROP_LOWER, ", at least"), (REGRESSION_DROP_UPPER, ", at most")
    evidence = f"clamp_min({_read_worst(REGRESSION_EVIDENCE)}, {_LEAST_DAYS})"
    baseline = _read_worst(REGRESSION_BASELINE_MEAN)
    return (
        show_numbers(
            Frame(
                number=501,
                title="Falls that are open",
                description="Each stream of scores that is watched: 0 is steady, 1 suspected, 2 fallen. Of 1 "
                "and 2 there is an alert: `ragsonde alerts list --open` names it, and the red areas lead to "
                f"it. A stream that is missing has no baseline yet: it needs {LEAST_PROVISIONAL:,} traces "
                f"and a day, {BASELINE_DAYS} days to page.",
                unit=COUNT,
                steps=((None, GOOD), (1, NOTICE), (2, BAD)),
                width=FULL,
                height=LOW_HEIGHT,
                decimals=0,
                no_value="no stream has a baseline yet",
            ),
            PromQuery(expression=_read_worst(REGRESSION_STATE), legend=_NAME, is_instant=True),
        ),
        draw_lines(
            Frame(
                number=502,
                title="Fall and its interval",
                description="How much lower traces score than traces of their own kind did in the baseline, "
                "as it was told, with the interval that it lies in. It stands still until more is told. An "
                "interval far above 0 is a fall that matters: look at the vertical lines near its "
                "beginning.",
                unit=PLAIN_NUMBER,
                decimals=2,
                no_value="no fall is open",
            ),
            *(PromQuery(expression=_read_worst(series), legend=_NAME + words) for series, words in drop),
        ),
        draw_lines(
            Frame(
                number=503,
                title="Evidence of a fall",
                description="Chance alone would show what is seen about once in so many days. A warning "
                f"needs {WARN_DAYS:.0f}, a page the upper line: a year, or `regression.page_days`, for each "
                "stream that is watched. A line that climbs for hours is a fall that begins; one that turns "
                "down was chance.",
                unit=DAYS,
                no_value="no stream has a baseline yet",
            ),
            PromQuery(expression=evidence, legend=_NAME),
            PromQuery(expression=f"max({read(REGRESSION_PAGE_THRESHOLD)})", legend="a page needs"),
            least_power=_LEAST_DAYS,
        ),
        draw_lines(
            Frame(
                number=504,
                title="Baseline beside now",
                description="The mean that each stream is compared with, the mean of the chosen time, and "
                "the interval of the mean of the last 24 hours. A baseline within the interval is no fall. "
                "A gap without an open fall is a shift to harder questions, a short time, or one that is "
                "not yet certain: see the evidence beside.",
                unit=PLAIN_NUMBER,
                maximum=1,
                decimals=2,
                no_value="no stream has a baseline yet",
            ),
            PromQuery(
                expression=f"{average_scores(*_BY)} and on ({', '.join(_BY)}) {baseline}",
                legend=f"{_NAME}, now",
            ),
            PromQuery(expression=baseline, legend=f"{_NAME}, baseline"),
            *(
                PromQuery(
                    expression=f"{_read_worst(series)} and on ({', '.join(_BY)}) {baseline}",
                    legend=f"{_NAME}, last 24 hours, {words}",
                )
                for series, words in ((SCORE_MEAN_LOWER, "at least"), (SCORE_MEAN_UPPER, "at most"))
            ),
        ),
    )


def _read_worst(series: Declaration) -> str:
    """A gauge of streams, of whichever monitor shows it."""
    return f"max by ({', '.join(_BY)}) ({read(series, *STREAM)})"
