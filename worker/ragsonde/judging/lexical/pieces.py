"""Runs of characters and of tokens: they find what words miss, such as endings and compounds, and wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cut_grams(text: str, *, characters: int) -> frozenset[str]:
    """All distinct runs of so many characters; the text itself where it is shorter."""
    return frozenset([text[i : i + characters] for i in range(max(1, len(text) - characters + 1))])


def cut_runs(words: Sequence[str], *, tokens: int) -> frozenset[str]:
    """All distinct runs of so many tokens, each as in `join_tokens`; none where there are fewer."""
    return frozenset([f" {' '.join(run)} " for run in zip(*(words[i:] for i in range(tokens)), strict=False)])


def join_tokens(words: Sequence[str]) -> str:
    """The tokens with spaces before, between and after them: a run is found at token borders only."""
    return f" {' '.join(words)} "
