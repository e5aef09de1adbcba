"""The figures of the lexical judge as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from judged_rows import JUDGE
from rich.table import Table
from statistics_of_scores import list_reliability

if TYPE_CHECKING:
    from measure_judge import Scores


def draw_figures(
    figures: dict[str, dict[str, float]],
    *,
    sizes: dict[str, tuple[int, int]],
    macro: dict[str, float],
    families: int,
) -> Table:
    """A row a source; the macro row last."""
    columns = list(next(iter(figures.values())))
    table = Table(title=f"lexical judge {JUDGE.fingerprint[:6]}", width=118)
    for name in ("source", "n", *columns):
        table.add_column(name, justify="left" if name == "source" else "right", no_wrap=True)
    for source, measured in figures.items():
        size = "/".join(map(str, sizes[source]))
        table.add_row(source, size, *(_format(measured[column]) for column in columns))
    table.add_section()
    cells = [_format(macro.get(column, float("nan")), digits=4) for column in columns]
    table.add_row("macro", f"{families} sources", *cells)
    return table


def draw_reliability(scores: list[Scores]) -> Table:
    """Per tenth of probability: contexts, mean probability, share relevant; sources count the same."""
    table = Table(title="reliability: of contexts with such a probability so many are relevant")
    for name in ("probability", "n q", "mean q", "relevant q", "n q+a", "mean q+a", "relevant q+a"):
        table.add_column(name, justify="right", no_wrap=True)
    answered = [of for of in scores if of.has_answer]
    alone = _list_bins([(of.alone, of.labels) for of in scores])
    together = _list_bins([(of.together, of.labels) for of in answered]) if answered else {}
    for place in range(10):
        cells = [cell for bins in (alone, together) for cell in _format_bin(bins.get(place))]
        table.add_row(f"{place / 10:.1f} to {place / 10 + 0.1:.1f}", *cells)
    return table


def _list_bins(parts: list[tuple[list[float], list[float]]]) -> dict[int, tuple[int, float, float]]:
    weights = np.concatenate([np.full(len(labels), 1 / len(labels)) for _, labels in parts])
    probabilities, labels = (np.concatenate(side) for side in zip(*parts, strict=True))
    return list_reliability(probabilities, labels, weights)


def _format_bin(found: tuple[int, float, float] | None) -> tuple[str, str, str]:
    return ("0", "-", "-") if found is None else (str(found[0]), f"{found[1]:.2f}", f"{found[2]:.2f}")


def _format(value: float, digits: int = 3) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
