"""The part of a prompt between tags like `<context>`; a sentence that only names the tags marks none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_WORDS = re.compile(r"[\W_]*+(?:(?:and|or|to|until|through)\b[\W_]*+)?", re.IGNORECASE)
_ABOUT_TAG = re.compile(
    r"[`'\"]?[ ]?(?:xml[ -]?)?(?:tags?|blocks?|elements?|sections?|delimiters?|markers?|brackets?)\b",
    re.IGNORECASE,
)
"""How a sentence goes on after the name of a tag: `in the <context> tags`."""


class _Pair(NamedTuple):
    opening: re.Match[str]
    closing: re.Match[str]


def find_tagged(text: str, *, words: str) -> str | None:
    """What the last pair of tags encloses, if it is neither blank nor a sentence about the tags; else None.

    Pairs of one name with nothing between them are one section, joined by line ends. Where no pair says
    anything, a tag that begins a line and is never closed goes to the end of the text.

    Args:
        text: of a message.
        words: the names that count, as a regular expression.
    """
    pairs, unclosed = _pair_tags(text, words=words)
    said = [pair for pair in pairs if _says_anything(text, pair.opening, end=pair.closing.start())]
    if said:
        return "\n".join(
            text[pair.opening.end() : pair.closing.start()].strip() for pair in _find_run(text, said)
        )
    for opening in reversed(unclosed):
        if opening["begin"] is not None and _says_anything(text, opening, end=len(text)):
            return text[opening.end() :].strip()
    return None


def _pair_tags(text: str, *, words: str) -> tuple[list[_Pair], list[re.Match[str]]]:
    """The pairs of tags in the order of their ends, and the tags that are never closed."""
    tag = re.compile(rf"(?P<begin>^[ \t]*+)?<(?P<closes>/?)(?P<name>{words})>", re.IGNORECASE | re.MULTILINE)
    pairs: list[_Pair] = []
    opened: dict[str, list[re.Match[str]]] = {}
    for found in tag.finditer(text):
        waiting = opened.setdefault(found["name"].lower(), [])
        if not found["closes"]:
            waiting.append(found)
        elif waiting:
            pairs.append(_Pair(waiting.pop(), found))
    left = [opening for waiting in opened.values() for opening in waiting]
    return pairs, sorted(left, key=lambda opening: opening.start())


def _says_anything(text: str, opening: re.Match[str], *, end: int) -> bool:
    if _NO_WORDS.fullmatch(text, opening.end(), end) is not None:
        return False
    return opening["begin"] is not None or _ABOUT_TAG.match(text, opening.end(), end) is None


def _find_run(text: str, pairs: Sequence[_Pair]) -> list[_Pair]:
    """The last pair, and those of its name right before it."""
    run = [pairs[-1]]
    for pair in reversed(pairs[:-1]):
        first = run[-1].opening
        is_beside = pair.closing.end() <= first.start() and pair.opening["name"] == first["name"]
        if not is_beside or text[pair.closing.end() : first.start()].strip():
            break
        run.append(pair)
    return run[::-1]
