"""How far a mean moved between two spans of time, and how surely that is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ragsonde.reporting.report import Move
from ragsonde.scoring.student import FEWEST, find_t

if TYPE_CHECKING:
    from ragsonde_schemas.watched import ScorerSummary


def measure_move(now: ScorerSummary, before: ScorerSummary | None) -> Move | None:
    """The difference of the means, now - before, with its 95 % interval by Welch's t.

    None where one of them has no score. No interval where one has fewer than 20, or no spread: then the
    spread of others like it is not known. Traces are taken as independent.

    Args:
        now: of the span that is told.
        before: of the same stream, in the span before.
    """
    if before is None or now.mean is None or before.mean is None:
        return None
    difference = now.mean - before.mean
    reach = _find_reach(now, before)
    return Move(
        before_n=before.n,
        before_mean=before.mean,
        difference=difference,
        lower=None if reach is None else max(-1.0, difference - reach),
        upper=None if reach is None else min(1.0, difference + reach),
    )


def _find_reach(now: ScorerSummary, before: ScorerSummary) -> float | None:
    """B. L. Welch, The generalization of Student's problem, Biometrika 34, 1947."""
    if min(now.n, before.n) < FEWEST or not now.deviation or not before.deviation:
        return None
    parts = [one.deviation**2 / one.n for one in (now, before) if one.deviation]
    variance = sum(parts)
    weights = sum(part**2 / (one.n - 1) for part, one in zip(parts, (now, before), strict=True))
    return find_t(max(1, int(variance**2 / weights))) * math.sqrt(variance)
