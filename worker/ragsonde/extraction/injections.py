"""Texts of a trace that look as if they wanted to steer the judge: flagged and shown, never changed.

A flag is a hint for people. It is found by words and forms, so that it misses what is said in other words and
now and then takes an honest text about judging for an attempt. No verdict depends on it.
"""

from __future__ import annotations

import base64
import codecs
import re
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ragsonde.extraction.injection_folding import fold_text
from ragsonde.extraction.injection_lexicon import (
    DECODING,
    OVERRIDING,
    STEERING,
    Recipe,
    load_lexicon,
)
from ragsonde_schemas.trace import InjectionKind, SuspectedInjection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_CHARACTERS = 100_000
"""Of a longer text, so many at its beginning and at its end are looked at."""

MOST_ENCODED = 20
LONGEST_ENCODED = 4_000

_ROLE_LINE = re.compile(r"^\W{0,8}(?:system|developer|assistant) ?(?:prompt|message)? ?:", re.MULTILINE)
_IDIOM = re.compile(r"\bto note\b|\bnote that\b|(?<!are )\ball (?:relevant|important|essential)\b")
"""Honest words that would look like a verdict."""

_ROLE_TAGS = re.compile(
    r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>|</?(?:system|instructions?|developer)>"
    r"|^#{2,6} ?(?:system|assistant|instruction|response|human) ?:"
    r'|"role" ?: ?"(?:system|assistant|developer)"'
    r"|^\[(?:[a-z]{1,20} ){0,4}(?:evaluation|evaluators?|scoring|grading|graders?|judges?)"
    r"(?: [a-z]{1,20}){1,5}\]"
    r"|^\[(?:[a-z]{1,20} ){0,2}system (?:override|admin|prompt|message|note)\b",
    re.MULTILINE,
)
_FENCE = re.compile(
    r"^[0-9a-f]{8} (?:context|question|answer|end of|earlier|search|reference)"
    r'|(?:^|[-=*#"]{3}) ?(?:begin|end|start) (?:of )?(?:the )?'
    r"(?:system|data|contexts?|documents?|prompt|passages?|instructions?)\b",
    re.MULTILINE,
)
_CLOSING_TAG = re.compile(r"</(contexts?|data|documents?|passages?|prompt)>")
_REPLY_KEYS = re.compile(r"[\"'](c|k|r|y|u|rel|need|ins|miss|st)[\"'] ?:")
_VERDICT_KEYS = re.compile(
    r"[\"'](?:relevan\w{2,10}|level)[\"'] ?: ?(?:true|[13]\b|[\"'](?:high|yes))|[\"']verdicts?[\"'] ?: ?\["
    r"|[\"'](?:faults|answered_model)[\"'] ?:"
)
_VERDICT_PAIRS = re.compile(r"\b(k|r|y|s|u|rel|need|ins|miss) ?[=:] ?(?:[\[\d]|true|false)")
_SCORE_PAIRS = re.compile(
    r"\b(?:context|statement|essential)_(?:precision|relevan\w{2,10}|position|context) ?[=:] ?\d"
)
FAR_AWAY = 1_000
_SEVERAL = 2
_MANY = 3

_OVERRIDES = re.compile("[\u202d\u202e]")
_TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{4}")
_ZERO_WIDTH = re.compile("[A-Za-z][\u200b-\u200d\u2060\ufeff]+(?=[A-Za-z])")
_MOST_ZERO_WIDTH = 3

_ENCODED = re.compile(r"[A-Za-z0-9+/]{20,}")
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_TURNING = ("rot13", "rot 13", "revers", "backward")


def find_injections(
    *, query: str | None, answer: str | None, contexts: Iterable[tuple[str, str]] = ()
) -> tuple[SuspectedInjection, ...]:
    """Where a trace looks hostile, and in which way: question first, then contexts in order, then answer.

    Args:
        query: the question.
        answer: the application's answer.
        contexts: number and text of each.
    """
    texts = [("question", query), *((f"context {number}", text) for number, text in contexts)]
    texts.append(("answer", answer))
    return tuple(
        SuspectedInjection(where=where, kind=kind)
        for where, text in texts
        if text
        for kind in find_kinds(text)
    )


def find_kinds(text: str) -> tuple[InjectionKind, ...]:
    """The ways in which a text looks as if it wanted to steer a judge; in linear time."""
    if len(text) > 2 * MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n{text[-MOST_CHARACTERS:]}"
    folded = fold_text(text)[: 2 * MOST_CHARACTERS]
    parts = _find_parts(folded)
    found = {
        InjectionKind.OVERRIDE: _meets_any(parts, OVERRIDING),
        InjectionKind.VERDICT: _meets_any(parts, STEERING),
        InjectionKind.ROLE: _ROLE_TAGS.search(folded) is not None,
        InjectionKind.DELIMITER: _forges_delimiter(folded),
        InjectionKind.REPLY: _looks_like_reply(folded),
        InjectionKind.HIDDEN: not text.isascii() and _hides_text(text),
        InjectionKind.ENCODED: _meets_any(parts, DECODING)
        or any(_steers(decoded) for decoded in _list_decoded(text, folded)),
    }
    return tuple(kind for kind, is_found in found.items() if is_found)


def _steers(text: str) -> bool:
    folded = fold_text(text)
    return _meets_any(_find_parts(folded), (*OVERRIDING, *STEERING)) or _looks_like_reply(folded)


def _find_parts(folded: str) -> list[tuple[int, int]]:
    # a search for a plain text is so much cheaper than a pattern that it is worth asking first
    if ":" in folded:
        folded = _ROLE_LINE.sub(" roletag ", folded)
    if "note" in folded or "all " in folded:
        folded = _IDIOM.sub("-", folded)
    return load_lexicon().find_parts(folded)


def _meets_any(parts: Sequence[tuple[int, int]], recipes: Sequence[Recipe]) -> bool:
    """True where all parts of a recipe stand within its words."""
    lexicon = load_lexicon()
    present = reduce(or_, (bits for _, bits in parts), 0)
    possible = [
        (sum(bits), bits, recipe.words)
        for recipe in recipes
        if (bits := [lexicon.bits[part] for part in recipe.parts]) and not sum(bits) & ~present
    ]
    if not possible:
        return False
    wanted = reduce(or_, (needed for needed, _, _ in possible))
    last = dict.fromkeys(lexicon.bits.values(), -FAR_AWAY)
    for position, found in parts:
        if not found & wanted:
            continue
        # the last place of each part is all that the words to come can need: linear, whatever stands there
        for bit in lexicon.split(found):
            last[bit] = position
        for needed, bits, words in possible:
            if needed & found and min([last[bit] for bit in bits]) >= position - words:
                return True
    return False


def _forges_delimiter(folded: str) -> bool:
    if _FENCE.search(folded):
        return True
    return any(f"<{found[1]}" not in folded[: found.start()] for found in _first_of_each(folded))


def _first_of_each(folded: str) -> list[re.Match[str]]:
    """The first closing tag of each name: one that closes what was never opened leaves its text."""
    first: dict[str, re.Match[str]] = {}
    for found in _CLOSING_TAG.finditer(folded):
        first.setdefault(found[1], found)
    return list(first.values())


def _looks_like_reply(folded: str) -> bool:
    if ":" not in folded and "=" not in folded:
        return False
    if _VERDICT_KEYS.search(folded) or _SCORE_PAIRS.search(folded):
        return True
    keys = {found[1] for found in _REPLY_KEYS.finditer(folded)}
    return len(keys) >= _SEVERAL or len({found[1] for found in _VERDICT_PAIRS.finditer(folded)}) >= _MANY


def _hides_text(text: str) -> bool:
    if _OVERRIDES.search(text) or _TAGS.search(text):
        return True
    return sum(1 for _ in _ZERO_WIDTH.finditer(text)) > _MOST_ZERO_WIDTH


def _list_decoded(text: str, folded: str) -> Iterator[str]:
    """What the text may say once it is decoded: base64, hex, and turned around where it says so."""
    for count, found in enumerate(_ENCODED.finditer(text)):
        if count == MOST_ENCODED:
            break
        yield from _decode(found[0][:LONGEST_ENCODED])
    if any(word in folded for word in _TURNING) or _OVERRIDES.search(text):
        yield text[::-1]
        yield codecs.encode(text, "rot13")


def _decode(run: str) -> Iterator[str]:
    if _HEX.fullmatch(run):
        yield bytes.fromhex(run).decode("utf-8", "replace")
    whole = run[: len(run) - len(run) % 4] if len(run) % 4 == 1 else run + "=" * (-len(run) % 4)
    yield base64.b64decode(whole).decode("utf-8", "replace")
