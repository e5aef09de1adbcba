"""Figures about probabilities and labels, weighted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_GRID = np.r_[np.geomspace(0.002, 0.1, 40)[:-1], np.linspace(0.1, 0.99, 90)].round(3)


def measure_auc(scores: Floats, labels: Floats) -> float:
    """Probability that a positive scores above a negative, ties half; NaN without both."""
    positives = labels.sum()
    negatives = len(labels) - positives
    if not positives or not negatives:
        return float("nan")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[labels > 0].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def measure_f1(scores: Floats, labels: Floats, cut_off: float, weights: Floats | None = None) -> float:
    """Harmonic mean of precision and recall of `scores >= cut_off`."""
    shares = np.ones(len(labels)) if weights is None else weights
    told = scores >= cut_off
    both = (shares * told * labels).sum()
    return float(2 * both / max((shares * told).sum() + (shares * labels).sum(), 1e-12))


def measure_rates(scores: Floats, labels: Floats, cut_off: float) -> tuple[float, float]:
    """Share of positives and of negatives that reach the cut-off."""
    told = scores >= cut_off
    return float(told[labels > 0].mean()), float(told[labels == 0].mean())


def measure_calibration_error(scores: Floats, labels: Floats, bins: int = 10) -> float:
    """Expected calibration error over equally wide bins."""
    places = np.minimum((scores * bins).astype(int), bins - 1)
    gaps = [
        abs(scores[places == place].mean() - labels[places == place].mean()) * (places == place).mean()
        for place in np.unique(places)
    ]
    return float(sum(gaps))


def list_reliability(
    scores: Floats, labels: Floats, weights: Floats, bins: int = 10
) -> dict[int, tuple[int, float, float]]:
    """By equally wide bin: how many scores, their weighted mean and share of positives; no empty bins."""
    places = np.minimum((scores * bins).astype(int), bins - 1)
    return {
        int(place): (
            int((places == place).sum()),
            float(np.average(scores[places == place], weights=weights[places == place])),
            float(np.average(labels[places == place], weights=weights[places == place])),
        )
        for place in np.unique(places)
    }


def find_best_f1(scores: Floats, labels: Floats, weights: Floats) -> float:
    """The cut-off with the highest F1."""
    return float(_GRID[int(np.argmax([measure_f1(scores, labels, cut, weights) for cut in _GRID]))])


def find_precise(scores: Floats, labels: Floats, weights: Floats, *, precision: float) -> float:
    """The lowest cut-off from which on the precision is reached."""
    for cut in _GRID:
        told = weights * (scores >= cut)
        if told.sum() and (told * labels).sum() / told.sum() >= precision:
            return float(cut)
    return float(_GRID[-1])


def find_balanced(scores: Floats, labels: Floats, *, tolerance: float = 0.0) -> float:
    """The lowest cut-off that, up to a tolerance, best tells positives from negatives."""
    balances = np.array([np.subtract(*measure_rates(scores, labels, cut)) for cut in _GRID])
    return float(_GRID[int(np.argmax(balances >= balances.max() - tolerance))])


def find_quiet(scores: Floats, *, passing: float) -> float:
    """The lowest cut-off that at most this share of the scores reaches."""
    return float(next(cut for cut in _GRID if (scores >= cut).mean() <= passing))
