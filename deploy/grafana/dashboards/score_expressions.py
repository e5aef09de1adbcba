"""PromQL about scores: means with their intervals, shares."""

from __future__ import annotations

from dashboards.expressions import PLACE, STREAM, WINDOW, count_growth, divide, grow, read, total
from ragsonde.exposition.series import (
    EMPTY_RETRIEVAL,
    INSUFFICIENT,
    SCORE,
    SCORE_SQUARES,
    SCORES_BELOW_THRESHOLD,
)

NORMAL_95 = 1.96


def count_scores(*by: str) -> str:
    """How many scores came in the window."""
    return count_growth(SCORE, *STREAM, window=WINDOW, by=by, part="_count")


def average_scores(*by: str) -> str:
    """The mean of the window's scores."""
    return divide(count_growth(SCORE, *STREAM, window=WINDOW, by=by, part="_sum"), count_scores(*by))


def bound_mean(side: str, *by: str) -> str:
    """An end of the mean's 95 % interval, by the normal approximation.

    Args:
        side: `+` or `-`.
        by: labels that stay.
    """
    number, mean = count_scores(*by), average_scores(*by)
    squares = divide(count_growth(SCORE_SQUARES, *STREAM, window=WINDOW, by=by), number)
    variance = f"clamp_min({squares} - ({mean}) ^ 2, 0)"
    return f"{mean} {side} {NORMAL_95} * sqrt({variance} / ({number} > 0))"


def share_below(*by: str) -> str:
    """The share of scores below the threshold that is chosen on the dashboard."""
    below = total(grow(read(SCORE, *STREAM, 'le="$below"', part="_bucket"), WINDOW), *by)
    return divide(below, count_scores(*by))


def share_below_own(*by: str) -> str:
    """The share of scores below the threshold of their scorer, else below the chosen one."""
    own = divide(count_growth(SCORES_BELOW_THRESHOLD, *STREAM, window=WINDOW, by=by), count_scores(*by))
    named = f'label_replace({own}, "threshold", "its own", "", "")'
    chosen = f'label_replace({share_below(*by)}, "threshold", "$below", "", "")'
    return f"{named} or on ({', '.join(by)}) {chosen}"


def share_insufficient(*by: str) -> str:
    """The share of assessed questions whose contexts lack the answer.

    How many were assessed is not counted by itself: it is as many as the busiest scorer has scored.
    """
    matchers = (*PLACE, 'judge=~"$judge"')
    lacking = count_growth(INSUFFICIENT, *matchers, window=WINDOW, by=by)
    scored = count_growth(
        SCORE, *matchers, window=WINDOW, by=tuple(dict.fromkeys((*by, "scorer"))), part="_count"
    )
    return divide(lacking, f"max by ({', '.join(by)}) ({scored})")


def share_empty(*by: str) -> str:
    """The share of traces whose retrieval returned nothing, of these and those that were scored."""
    empty = count_growth(EMPTY_RETRIEVAL, *PLACE, window=WINDOW, by=by)
    scored = count_growth(SCORE, *PLACE, window=WINDOW, by=(*by, "scorer", "judge"), part="_count")
    busiest = f"max by ({', '.join(by)}) ({scored})"
    # where none is empty the counter does not exist yet: that is a share of 0
    empty_or_none = f"({empty} or 0 * {busiest})"
    # and where all are, nothing is scored
    scored_or_none = f"({busiest} or 0 * {empty})"
    return divide(empty_or_none, f"({empty_or_none} + {scored_or_none})")
