"""Markdown of what all pages have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def draw_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, and a line's end after it; a cell is one line, its `|` are escaped."""
    lines = (headings, ("---",) * len(headings), *rows)
    return "".join(f"| {' | '.join(_fit(cell) for cell in cells)} |\n" for cells in lines)


def quote(text: object) -> str:
    """As code."""
    return f"`{text}`"


def join_lines(text: str) -> str:
    """One line of what was wrapped."""
    return " ".join(text.split())


def _fit(cell: str) -> str:
    return join_lines(cell).replace("|", "\\|")
