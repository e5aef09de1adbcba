"""What a text is compared by: stemmed words, or pairs of characters where a script sets no spaces."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_UNSPACED_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
"""Thai, Lao, Burmese, Khmer, kana, Han, Hangul."""

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0dff"
)
"""Signs that `\\w` leaves out though they stand inside words: vowel signs of Indic scripts, harakat."""

_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
_WORD = re.compile(rf"[\w{_MARKS}]+")
_MIXED_WORD = re.compile(rf"[{_UNSPACED_RANGES}]+|[^\W{_UNSPACED_RANGES}]+")
_VOWEL_POINTS = re.compile("[\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_NATIVE_DIGITS = re.compile("[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59]")
_SUFFIXES = ("ingly", "edly", "ing", "ied", "ies", "ed", "es", "ly", "s")
_SHORTEST_STEM = 3
_DROP_E_FROM = 5
_DOUBLED = frozenset("bdgmnprt")
"""`running`, `stopped`; not `called`, `missed`."""

_ASCII_PREFIX = 7
_PREFIX = 6
_LONGEST_KEPT = 40
"""What is longer is no word that comes again, and 32,768 of any length would fill the memory."""


def normalize(text: str) -> str:
    """The text in NFKC, lower case, with digits of other scripts as 0 to 9 and `_` as a space."""
    if text.isascii():
        return text.lower().replace("_", " ")
    folded = unicodedata.normalize("NFKC", text).lower().replace("_", " ")
    if _NATIVE_DIGITS.search(folded):
        return _NATIVE_DIGITS.sub(lambda match: str(unicodedata.digit(match.group())), folded)
    return folded


def is_unspaced(text: str) -> bool:
    """True when a script without spaces between words occurs."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def tokenize(normalized: str) -> list[str]:
    """The stems of a normalized text in order; runs of unspaced scripts as overlapping pairs."""
    if not is_unspaced(normalized):
        return [stem(word) for word in _WORD.findall(normalized)]
    tokens: list[str] = []
    for word in _MIXED_WORD.findall(normalized):
        if not _UNSPACED.match(word):
            tokens.append(stem(word))
        elif len(word) == 1:
            tokens.append(word)
        else:
            tokens.extend(word[i : i + 2] for i in range(len(word) - 1))
    return tokens


def stem(word: str) -> str:
    """A lower-case word without its common English ending, cut to a prefix: equal for most of its forms."""
    return _stem_kept(word) if len(word) <= _LONGEST_KEPT else _stem(word)


@lru_cache(maxsize=32_768)
def _stem_kept(word: str) -> str:
    return _stem(word)


def _stem(word: str) -> str:
    if not word.isascii():
        return _VOWEL_POINTS.sub("", word)[:_PREFIX] or word
    if not word.isalpha():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM and not word.endswith("ss"):
            word = word[: -len(suffix)]
            if suffix in {"ied", "ies"}:
                word += "y"
            elif word[-1] == word[-2] and word[-1] in _DOUBLED:
                word = word[:-1]
            break
    if len(word) >= _DROP_E_FROM and word[-1] == "e":
        word = word[:-1]
    return word[:_ASCII_PREFIX]


def weigh(token: str) -> float:
    """How much of a subject a token carries: numbers and very short words a little less than others."""
    if token.isdigit():
        return 0.9
    return 0.8 if len(token) <= 2 else 1.0  # noqa: PLR2004 - letters
