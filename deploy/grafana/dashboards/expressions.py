"""Parts of PromQL that several panels share; series are named by their declarations alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde.exposition.declaration import Declaration

WINDOW = "$window"
"""Chosen on the dashboard: long enough for an interval that means something."""
STEP = "$__rate_interval"
RANGE = "$__range"
MEMORY = "6h"
"""What had no sample for so long is new."""

PLACE = ('app=~"$app"', 'environment=~"$environment"')
STREAM = (*PLACE, 'scorer=~"$scorer"', 'judge=~"$judge"')


def read(series: Declaration, *matchers: str, part: str = "") -> str:
    """A selector of a series.

    Args:
        series: as declared.
        matchers: of its labels.
        part: of a histogram: `_bucket`, `_count` or `_sum`.
    """
    return f"{series.full_name}{part}{{{','.join(matchers)}}}"


def grow(selector: str, window: str) -> str:
    """What each counter grew by in a window.

    One that was born within the window counts whole: `increase` alone misses what came before the first
    scrape, which is everything where an app sends its traces in one burst. Born is what had no sample at all
    in the six hours before the window: a scrape that failed is no birth. What is older than Prometheus, or
    than a gap of six hours, counts whole, too: then figures reach back further than they say.
    """
    # each sample just before the window; further back one in five minutes, as reading all costs too much
    before = (
        f"(present_over_time({selector}[5m] offset {window})"
        f" or present_over_time({selector}[{MEMORY}:5m] offset {window}))"
    )
    return f"((max_over_time({selector}[{window}]) unless {before}) or increase({selector}[{window}]))"


def total(expression: str, *labels: str) -> str:
    """The sum over all labels but these."""
    return f"sum by ({', '.join(labels)}) ({expression})" if labels else f"sum({expression})"


def count_growth(
    series: Declaration, *matchers: str, window: str, by: tuple[str, ...], part: str = ""
) -> str:
    """How much a counter grew in a window, by some labels."""
    return total(grow(read(series, *matchers, part=part), window), *by)


def measure_quantile(
    quantile: float, series: Declaration, *matchers: str, window: str, by: tuple[str, ...] = ()
) -> str:
    """A quantile of a histogram over a window."""
    buckets = count_growth(series, *matchers, window=window, by=("le", *by), part="_bucket")
    return f"histogram_quantile({quantile}, {buckets})"


def divide(part: str, whole: str) -> str:
    """A share; absent where there is nothing to share, instead of a number that is none."""
    return f"{part} / ({whole} > 0)"
