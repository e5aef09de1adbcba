"""Places in a text that are to be replaced, each with its kind; overlapping ones become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_ESCAPED_LETTERS = frozenset("bfnrt")
_HEX_ESCAPE = 5
"""Characters of `u` and its four digits."""


class Match(NamedTuple):
    """What lies in `text[start:end]`."""

    start: int
    end: int
    kind: str


def merge_matches(matches: Iterable[Match]) -> list[Match]:
    """The places in order, none overlapping: what overlaps is one place of the kind that began first."""
    merged: list[Match] = []
    for one in sorted(matches, key=lambda match: (match.start, -match.end)):
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = last._replace(end=max(last.end, one.end))
        else:
            merged.append(one)
    return merged


def keep_escapes(text: str, matches: Iterable[Match]) -> list[Match]:
    r"""The places, moved so that none begins inside a JSON escape: of `\nanna@example.org` the `n` stays."""
    kept = []
    for one in matches:
        start = one.start
        if _is_escaped(text, start):
            if text[start] in _ESCAPED_LETTERS:
                start += 1
            elif text[start] == "u":
                start += _HEX_ESCAPE
        if start < one.end:
            kept.append(one._replace(start=start))
    return kept


def _is_escaped(text: str, at: int) -> bool:
    """True after an odd number of backslashes."""
    first = at
    while first and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1
