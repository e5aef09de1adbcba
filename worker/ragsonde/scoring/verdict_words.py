"""Verdict words: how yes, no, levels and reasons are read where an assessment is read, never in a formula."""

from __future__ import annotations

import unicodedata

from ragsonde.extraction.texts import mend_text
from ragsonde_schemas.assessment import Level

_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_LEVELS = {level.value: level for level in Level}
_LONGEST_WORD = 64


def read_flag(value: object) -> bool | None:
    """True or False for a boolean or one of yes, no, true, false; None for anything else."""
    if isinstance(value, bool):
        return value
    return _FLAGS.get(_fold(value)) if isinstance(value, str) else None


def read_level(value: object) -> Level | None:
    """The level for one of high, medium, low, none; None for anything else."""
    return _LEVELS.get(_fold(value)) if isinstance(value, str) else None


def read_text(value: object) -> str | None:
    """The text, stripped and mended, or None where there is none to read."""
    return mend_text(value.strip()) or None if isinstance(value, str) else None


def _fold(text: str) -> str:
    """The word in NFKC, stripped, case-folded, without trailing punctuation; '' for what is too long."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_WORD:
        return ""
    word = unicodedata.normalize("NFKC", stripped).casefold().strip()
    while word and (word[-1].isspace() or unicodedata.category(word[-1]).startswith("P")):
        word = word[:-1]
    return word
