"""The five formulas once more, in exact fractions and in the plainest form: the oracle."""

from __future__ import annotations

from fractions import Fraction
from math import floor

LEVEL_TENTHS = {"high": 10, "medium": 7, "low": 3, "none": 0}


def position(relevant):
    weights = [Fraction(1, rank + 1) for rank in range(len(relevant))]
    return sum((w for w, is_hit in zip(weights, relevant, strict=True) if is_hit), Fraction()) / sum(weights)


def precision(relevant):
    hits = [rank for rank, is_hit in enumerate(relevant) if is_hit]
    if not hits:
        return Fraction()
    return sum(Fraction(sum(relevant[: rank + 1]), rank + 1) for rank in hits) / len(hits)


def relevance(levels, used, n_missing, *, unused_high="0.1", missing_item="0.15", missing_cap="0.5"):
    base = Fraction(sum(LEVEL_TENTHS[level] for level in levels), 10 * len(levels))
    n_unused = sum(level == "high" and not is_used for level, is_used in zip(levels, used, strict=True))
    missing = min(n_missing * Fraction(missing_item), Fraction(missing_cap))
    return min(max(base - n_unused * Fraction(unused_high) - missing, Fraction()), Fraction(1))


def share(flags):
    return Fraction(sum(flags), len(flags))


def weighted_share(weights):
    return sum((Fraction(weight) for weight in weights), Fraction()) / len(weights)


def round_half_up(exact):
    return floor(exact * 100 + Fraction(1, 2)) / 100
