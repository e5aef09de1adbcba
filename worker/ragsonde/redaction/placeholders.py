"""What stands in a text in place of what was taken out: `[email]`, or `[email:3fa2c1]`."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ragsonde.redaction.matches import Match

WITHHELD = "[withheld]"
"""In place of a text that could not be redacted."""
HOOK = "hook"
"""The kind under which texts count that the user's function changed."""

_DIGITS = 6
_PLACEHOLDER = re.compile(r"\[([a-z][a-z0-9_]{0,29})(?::[0-9a-f]{6})?\]")


def write_placeholder(kind: str, text: str, *, secret: bytes | None) -> str:
    """The placeholder of a text; with a secret the same text has the same one, from which it is not told."""
    if secret is None:
        return f"[{kind}]"
    digest = hmac.new(secret, f"{kind}\x1f{text}".encode(errors="replace"), hashlib.sha256).hexdigest()
    return f"[{kind}:{digest[:_DIGITS]}]"


def is_placeholder(text: str, *, kind: str) -> bool:
    """True for a text that is a placeholder of the kind, and nothing besides."""
    found = _PLACEHOLDER.fullmatch(text)
    return found is not None and found.group(1) == kind


def leave_placeholders(text: str, matches: Iterable[Match], *, kinds: Collection[str]) -> list[Match]:
    """Those of the places, which are in order, that do not lie inside a placeholder of one of the kinds."""
    found = _PLACEHOLDER.finditer(text) if "[" in text else ()
    spans = [one.span() for one in found if one.group(1) in kinds or one.group() == WITHHELD]
    kept, at = [], 0
    for one in matches:
        while at < len(spans) and spans[at][1] < one.end:
            at += 1
        if at == len(spans) or one.start < spans[at][0]:
            kept.append(one)
    return kept


def count_placeholders(texts: Iterable[str], *, kinds: Iterable[str]) -> dict[str, int]:
    """How many placeholders of these kinds the texts hold; kinds without any are left out."""
    known, counts = set(kinds), Counter[str]()
    for text in texts:
        if "[" in text:
            counts.update(found.group(1) for found in _PLACEHOLDER.finditer(text) if found.group(1) in known)
    return {kind: counts[kind] for kind in kinds if counts[kind]}


def describe_counts(counts: Mapping[str, int]) -> str:
    """`2 email, 1 card`."""
    return ", ".join(f"{number} {kind}" for kind, number in counts.items())
