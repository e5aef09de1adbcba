"""PromQL about scores: means with their intervals, shares."""

from __future__ import annotations

from dashboards.expressions import PLACE, STREAM, WINDOW, count_growth, divide, grow, read, total
from ragsonde.exposition.series import (
    ASSESSED,
    EMPTY_RETRIEVAL,
    INSUFFICIENT,
    SCORE,
    SCORE_SQUARES,
    SCORES_BELOW_THRESHOLD,
    TRACES,
)

NORMAL_95 = 1.96
FEWEST = 20
"""Scores below which no interval is shown: that of one or two has no width, and looks certain."""
OF_ONE_JUDGE = (*STREAM[:-1], 'judge="$one_judge"')


def count_scores(*by: str, of: tuple[str, ...] = STREAM) -> str:
    """How many scores came in the window.

    Args:
        by: labels that stay.
        of: matchers of the scores meant.
    """
    return count_growth(SCORE, *of, window=WINDOW, by=by, part="_count")


def average_scores(*by: str, of: tuple[str, ...] = STREAM) -> str:
    """The mean of the window's scores."""
    return divide(count_growth(SCORE, *of, window=WINDOW, by=by, part="_sum"), count_scores(*by, of=of))


def bound_mean(side: str, *by: str, of: tuple[str, ...] = STREAM) -> str:
    """An end of the mean's 95 % interval, by the normal approximation; absent below FEWEST scores.

    Args:
        side: `+` or `-`.
        by: labels that stay.
        of: matchers of the scores meant.
    """
    number, mean = count_scores(*by, of=of), average_scores(*by, of=of)
    squares = divide(count_growth(SCORE_SQUARES, *of, window=WINDOW, by=by), number)
    variance = f"clamp_min({squares} - ({mean}) ^ 2, 0)"
    return f"{mean} {side} {NORMAL_95} * sqrt({variance} / ({number} >= {FEWEST}))"


def share_below(*by: str, of: tuple[str, ...] = STREAM) -> str:
    """The share of scores below the threshold that is chosen on the dashboard."""
    below = total(grow(read(SCORE, *of, 'le="$below"', part="_bucket"), WINDOW), *by)
    return divide(below, count_scores(*by, of=of))


def share_below_own(*by: str) -> str:
    """The share of scores below the threshold of their scorer, else below the chosen one."""
    own = divide(count_growth(SCORES_BELOW_THRESHOLD, *STREAM, window=WINDOW, by=by), count_scores(*by))
    named = f'label_replace({own}, "threshold", "its own", "", "")'
    chosen = f'label_replace({share_below(*by)}, "threshold", "$below", "", "")'
    return f"{named} or on ({', '.join(by)}) {chosen}"


def share_insufficient(*by: str) -> str:
    """The share of questions whose contexts lack the answer, of those where a judge could tell."""
    matchers = (*PLACE, 'judge=~"$judge"')
    lacking = count_growth(INSUFFICIENT, *matchers, window=WINDOW, by=by)
    return divide(lacking, count_growth(ASSESSED, *matchers, window=WINDOW, by=by))


def share_empty(*by: str) -> str:
    """The share of stored traces whose retrieval returned nothing, as the alert takes it."""
    empty = count_growth(EMPTY_RETRIEVAL, *PLACE, window=WINDOW, by=by)
    return divide(empty, count_growth(TRACES, *PLACE, window=WINDOW, by=by))
