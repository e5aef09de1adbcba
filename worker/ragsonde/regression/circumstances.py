"""What was other after a fall began than before: contexts, answers, the judge's check set."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragsonde_schemas.alert_explanation import (
        AnswersChange,
        BeforeAndAfter,
        CheckSetDrift,
        ContextsChange,
        Spread,
    )

FEWEST_TRACES = 20
"""On each side; below it nothing is told."""
CHANGED_SHARE = 0.10
"""Of the mean of before: a smaller change of a quantity is not told."""
STEADY = 0.02
"""Of a mean probability: a smaller change is none."""
SURE_ENOUGH = 0.05
"""Two standard errors of a difference that may be called steady."""
DECLINED_MORE = 0.10
_STANDARD_ERRORS = 3.0


class SeenTrace(NamedTuple):
    """What is known of a trace; None where it is not.

    Attributes:
        is_after: it occurred since the fall began.
        contexts: how many.
        characters: of all contexts together.
    """

    is_after: bool
    contexts: int | None
    characters: int | None


class SeenHeads(NamedTuple):
    """What the lexical judge thinks of a trace's contexts.

    Attributes:
        is_after: it occurred since the fall began.
        retrieval: mean probability that a context is relevant to the question alone.
        answer: likewise to question and answer; None without an answer that can be looked at.
    """

    is_after: bool
    retrieval: float
    answer: float | None


def compare_contexts(traces: Sequence[SeenTrace]) -> ContextsChange | None:
    """How many and how long contexts are, where one of both changed by 10 % and beyond chance."""
    count = compare_spreads(
        *(
            [one.contexts for one in traces if one.is_after is side and one.contexts is not None]
            for side in (False, True)
        )
    )
    characters = compare_spreads(
        *(
            [one.characters for one in traces if one.is_after is side and one.characters is not None]
            for side in (False, True)
        )
    )
    if count is None and characters is None:
        return None
    after = sum(one.is_after for one in traces)
    change: ContextsChange = {"n_before": len(traces) - after, "n_after": after}
    if count is not None:
        change["count"] = count
    if characters is not None:
        change["characters"] = characters
    return change


def compare_spreads(before: Sequence[float], after: Sequence[float]) -> BeforeAndAfter | None:
    """Both spreads, where their means differ by 10 % and beyond chance; None where they do not."""
    if min(len(before), len(after)) < FEWEST_TRACES:
        return None
    earlier, later = np.asarray(before, np.float64), np.asarray(after, np.float64)
    difference = abs(float(later.mean() - earlier.mean()))
    least = max(CHANGED_SHARE * float(earlier.mean()), _STANDARD_ERRORS * _find_error(earlier, later))
    if difference <= least:
        return None
    return {"before": _spread(earlier), "after": _spread(later)}


def compare_answers(traces: Sequence[SeenHeads], *, smallest_drop: float) -> AnswersChange | None:
    """Told where questions fit contexts as before, and answers less, or fewer are given; else None."""
    sides = [[one for one in traces if one.is_after is side] for side in (False, True)]
    if min(map(len, sides)) < FEWEST_TRACES:
        return None
    retrieval = [np.array([one.retrieval for one in side], np.float64) for side in sides]
    moved = abs(float(retrieval[1].mean() - retrieval[0].mean()))
    twice = 2 * _find_error(*retrieval)
    if moved > max(STEADY, twice) or twice > SURE_ENOUGH:
        return None
    answers = [np.array([one.answer for one in side if one.answer is not None], np.float64) for side in sides]
    declined = [1 - len(given) / len(side) for given, side in zip(answers, sides, strict=True)]
    if not (_fell(*answers, smallest_drop=smallest_drop) or _rose(declined, sides)):
        return None
    means = [float(one.mean()) if one.size else None for one in answers]
    return {
        "retrieval_before": float(retrieval[0].mean()),
        "retrieval_after": float(retrieval[1].mean()),
        "answer_before": means[0],
        "answer_after": means[1],
        "declined_before": declined[0],
        "declined_after": declined[1],
        "n_before": len(sides[0]),
        "n_after": len(sides[1]),
    }


def compare_checks(pairs: Sequence[tuple[float, float]], *, smallest_drop: float) -> CheckSetDrift | None:
    """How far the scores of the same traces drifted, each given as before and after; None without any."""
    if not pairs:
        return None
    before, after = np.array(pairs, np.float64).T
    differences = after - before
    drift = float(differences.mean())
    error = float(differences.std(ddof=1) / len(pairs) ** 0.5) if len(pairs) > 1 else None
    has_moved = error is not None and abs(drift) > max(smallest_drop, _STANDARD_ERRORS * error)
    return {
        "drift": drift,
        "stderr": error,
        "before": float(before.mean()),
        "after": float(after.mean()),
        "n": len(pairs),
        "has_moved": has_moved,
        "is_steady": not has_moved
        and error is not None
        and len(pairs) >= FEWEST_TRACES
        and abs(drift) + 2 * error <= SURE_ENOUGH,
    }


def _fell(before: NDArray[np.float64], after: NDArray[np.float64], *, smallest_drop: float) -> bool:
    if min(before.size, after.size) < FEWEST_TRACES:
        return False
    drop = float(before.mean() - after.mean())
    return drop > max(smallest_drop, _STANDARD_ERRORS * _find_error(before, after))


def _rose(shares: Sequence[float], sides: Sequence[Sequence[object]]) -> bool:
    error = sum(share * (1 - share) / len(side) for share, side in zip(shares, sides, strict=True)) ** 0.5
    return bool(shares[1] - shares[0] > DECLINED_MORE + _STANDARD_ERRORS * float(error))


def _find_error(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """The standard error of the difference of two means."""
    return float((before.var(ddof=1) / before.size + after.var(ddof=1) / after.size) ** 0.5)


def _spread(values: NDArray[np.float64]) -> Spread:
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9)).tolist()
    return {"mean": float(values.mean()), "p10": low, "p50": middle, "p90": high}
