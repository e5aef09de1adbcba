"""Characters that look like others, or like nothing, as the plain ones, with where they came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_DIGIT_ZEROS = (0x0660, 0x06F0, 0x0966, 0x09E6, 0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6)
_PLAIN = {
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), "-"),
    **dict.fromkeys((0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x3002, 0xFF61, 0x2024, 0xFE52), "."),
    0xFE6B: "@",
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{zero + digit: str(digit) for zero in _DIGIT_ZEROS for digit in range(10)},
}
_UNSEEN = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LONGER = re.compile(
    rf"[{_UNSEEN}]+|%(?:40|2[EeDdBb])|&(?:#0{{0,6}}64|#[xX]0{{0,6}}40|commat);|\\u[0-9A-Fa-f]{{4}}"
)
"""What becomes shorter: characters nobody sees, and such as are written by their number."""
_SAID = {"%40": "@", "%2e": ".", "%2d": "-", "%2b": "+"}


class Folded(NamedTuple):
    """A text in plain characters.

    Attributes:
        ends: places in `text` behind which characters of the original were left out, in order.
        left_out: how many, up to and with each of these.
    """

    text: str
    ends: list[int]
    left_out: list[int]

    def find_original(self, start: int, end: int) -> tuple[int, int]:
        """Where in the original lies what lies there in the text."""
        return self._move(start), self._move(end)

    def _move(self, place: int) -> int:
        at = bisect_right(self.ends, place)
        return place + (self.left_out[at - 1] if at else 0)


def fold(text: str) -> Folded:
    """The text in plain characters, in time that grows with it and no faster."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    if text.isascii() and "%" not in text and "&" not in text and "\\u" not in text:
        return Folded(plain, [], [])
    pieces: list[str] = []
    ends: list[int] = []
    left_out: list[int] = []
    at = written = lost = 0
    for found in _LONGER.finditer(plain):
        piece = plain[at : found.start()]
        stands = _read(found.group())
        pieces += [piece, stands]
        written += len(piece) + len(stands)
        lost += len(found.group()) - len(stands)
        ends.append(written)
        left_out.append(lost)
        at = found.end()
    if not pieces:
        return Folded(plain, [], [])
    return Folded("".join([*pieces, plain[at:]]), ends, left_out)


def _read(found: str) -> str:
    """The character that is meant; what is no other than it seems stays as it is."""
    if found[0] in _UNSEEN:
        return ""
    if found[0] != "\\":
        return _SAID.get(found.lower(), "@")
    meant = chr(int(found.removeprefix("\\u"), 16))
    if meant in _UNSEEN:
        return ""
    plain = meant.translate(_PLAIN)
    return plain if plain != meant or plain == "@" else found
