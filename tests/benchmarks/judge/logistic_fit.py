"""Logistic regression with weights of at least 0: accelerated projected gradient, deterministic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 20_000
_TOLERANCE = 1e-10


def fit_logistic(rows: Floats, labels: Floats, weights: Floats, *, ridge: float) -> Floats:
    """The weights with the bias last, minimising mean weighted log loss + ridge / 2 * |weights|^2."""
    design = np.c_[rows, np.ones(len(rows))]
    shares = weights / weights.sum()
    penalty = np.r_[np.full(rows.shape[1], ridge), 0.0]
    lowest = np.r_[np.zeros(rows.shape[1]), -np.inf]
    step = 1 / (0.25 * np.linalg.norm(design * np.sqrt(shares)[:, None], 2) ** 2 + ridge)
    found = ahead = np.zeros(design.shape[1])
    momentum = 1.0
    for _ in range(_STEPS):
        slope = design.T @ (shares * (to_probability(design @ ahead) - labels)) + penalty * ahead
        following = np.maximum(ahead - step * slope, lowest)
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - found)
        is_settled = np.abs(following - found).max() < _TOLERANCE
        found, momentum = following, next_momentum
        if is_settled:
            break
    return found


def to_logit(rows: Floats, fitted: Floats) -> Floats:
    """What the fitted weights give before the logistic function."""
    return rows @ fitted[:-1] + fitted[-1]


def to_probability(logits: Floats) -> Floats:
    """The logistic function."""
    return 1 / (1 + np.exp(-logits))


def cross_validate(
    rows: Floats, labels: Floats, weights: Floats, *, folds: NDArray[np.int64], ridge: float
) -> Floats:
    """Logits of every row, from weights fitted without its fold."""
    logits = np.zeros(len(labels))
    for fold in np.unique(folds):
        inside = folds == fold
        fitted = fit_logistic(rows[~inside], labels[~inside], weights[~inside], ridge=ridge)
        logits[inside] = to_logit(rows[inside], fitted)
    return logits


def assign_folds(groups: list[str], *, count: int, seed: int) -> NDArray[np.int64]:
    """A fold for each row, the same for all rows of a group."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: int(position % count) for position, place in enumerate(order)}
    return np.array([fold_of[group] for group in groups])
