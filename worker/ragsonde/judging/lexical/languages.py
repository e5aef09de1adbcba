"""Which language a text is in, as far as function words and scripts tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from ragsonde.judging.lexical.stop_words import FUNCTION_CHARACTERS, STOP_WORDS
from ragsonde.judging.lexical.words import stem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

_SAMPLE_CHARACTERS = 200
_CLEAR_LEAD = 2
_LANGUAGE_OF_SCRIPT = {
    "GREEK": "el",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
}
_SCRIPT_OF_LANGUAGE = {"en": "latin", "de": "latin", "es": "latin", "fr": "latin", "ru": "cyrillic"}
_LETTER = re.compile(r"[^\W\d_]")

_STEMS = {language: frozenset(stem(word) for word in words) for language, words in STOP_WORDS.items()}
_ALL_STEMS = frozenset(token for stems in _STEMS.values() for token in stems)
_TELLING = {
    language: stems.difference(*(more for other, more in _STEMS.items() if other != language))
    for language, stems in _STEMS.items()
}
"""Per language the function words that no other one has."""


def is_stop(token: str, *, language: str | None) -> bool:
    """True when a token carries no subject in that language; in any, where the language is not known."""
    if token in _STEMS.get(language or "", _ALL_STEMS):
        return True
    return token[0] in FUNCTION_CHARACTERS and token[-1] in FUNCTION_CHARACTERS


def guess_language(normalized: str, tokens: AbstractSet[str]) -> str | None:
    """A two-letter code; the script's name where it does not tell (`latin`); None for a text without letters.

    Args:
        normalized: the text.
        tokens: its stems.
    """
    script = guess_script(normalized)
    if script is None:
        return None
    if script in _LANGUAGE_OF_SCRIPT:
        return _LANGUAGE_OF_SCRIPT[script]
    of_script = [name for name, written_in in _SCRIPT_OF_LANGUAGE.items() if written_in == script.lower()]
    ranked = sorted(((len(tokens & _TELLING[name]), name) for name in of_script), reverse=True)
    if not ranked or not ranked[0][0]:
        return script.lower()
    second = ranked[1][0] if len(ranked) > 1 else 0
    return ranked[0][1] if ranked[0][0] >= _CLEAR_LEAD * second else script.lower()


def guess_script(normalized: str) -> str | None:
    """The script of most letters at the beginning, by its Unicode name; a quarter of kana is Japanese."""
    sample = normalized[:_SAMPLE_CHARACTERS]
    if sample.isascii():
        return "LATIN" if _LETTER.search(sample) else None
    counts = Counter(map(_script_of, _LETTER.findall(sample)))
    if not counts:
        return None
    if 4 * (counts["HIRAGANA"] + counts["KATAKANA"]) > sum(counts.values()):
        return "HIRAGANA"
    return max(counts, key=lambda script: (counts[script], script))


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "NONE").partition(" ")[0]


def name_pair(question: str | None, contexts: Iterable[str | None]) -> str | None:
    """`de>en` when the question is German and every context English; None where words may be shared.

    Args:
        question: the question's language or script.
        contexts: the same of the contexts that are not blank.
    """
    found = set(contexts)
    if question is None or not found:
        return None
    if any(language is None or _may_share(question, language) for language in found):
        return None
    return f"{question}>{'+'.join(sorted(language for language in found if language))}"


def _may_share(one: str, other: str) -> bool:
    if one == other or {one, other} == {"zh", "ja"}:
        return True
    is_known = one in _SCRIPT_OF_LANGUAGE and other in _SCRIPT_OF_LANGUAGE
    return not is_known and _SCRIPT_OF_LANGUAGE.get(one, one) == _SCRIPT_OF_LANGUAGE.get(other, other)
