"""Verdict words: how they are read where an assessment is read, never in a formula."""

from __future__ import annotations

import unicodedata

from ragsonde.extraction.texts import mend_text
from ragsonde_schemas.assessment import Certainty, Level

_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_LEVELS = {level.value: level for level in Level}
_LONGEST_WORD = 64
_LARGEST_RATING = 10**6


def read_flag(value: object) -> bool | None:
    """True or False for a boolean or one of yes, no, true, false; None for anything else."""
    if isinstance(value, bool):
        return value
    return _FLAGS.get(fold_word(value)) if isinstance(value, str) else None


def read_certainty(value: object) -> Certainty | None:
    """Yes or no as `read_flag` reads them, or unsure for that word; None for anything else."""
    if isinstance(value, str) and fold_word(value) == Certainty.UNSURE.value:
        return Certainty.UNSURE
    flag = read_flag(value)
    return None if flag is None else Certainty.YES if flag else Certainty.NO


def read_rating(value: object) -> str | None:
    """A rating as text: words stripped and mended, whole numbers; booleans are yes and no; else None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if abs(value) <= _LARGEST_RATING else None
    text = read_text(value)
    return text if text is not None and len(text) <= _LONGEST_WORD and fold_word(text) else None


def read_level(value: object) -> Level | None:
    """The level for one of high, medium, low, none; None for anything else."""
    return _LEVELS.get(fold_word(value)) if isinstance(value, str) else None


def read_text(value: object) -> str | None:
    """The text, stripped and mended, or None where there is none to read."""
    return mend_text(value.strip()) or None if isinstance(value, str) else None


def fold_word(text: str) -> str:
    """The word in NFKC, stripped, case-folded, without trailing punctuation; '' for what is too long."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_WORD:
        return ""
    word = unicodedata.normalize("NFKC", stripped).casefold().strip()
    while word and (word[-1].isspace() or unicodedata.category(word[-1]).startswith("P")):
        word = word[:-1]
    return word
