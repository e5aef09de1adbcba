"""Words of rows that a newer version of this program wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from enum import StrEnum

Word = TypeVar("Word", bound="StrEnum")


def read_word(kind: type[Word], word: str) -> Word:
    """The member of that value; of a value that is not known here, the word as it stands.

    Such a one is equal to no member, has its word as its value, and is among no list of them: what people
    read is shown with it instead of not at all.
    """
    try:
        return kind(word)
    except ValueError:
        unknown = str.__new__(kind, word)
        unknown._name_ = word.upper()
        unknown._value_ = word
        return unknown
