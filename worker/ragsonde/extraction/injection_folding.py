"""Texts as a model reads them: what hides words from a search, but not from a model, is taken away."""

from __future__ import annotations

import re
import unicodedata

_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u043a\u043c\u0442\u043d\u0432"
    "\u03bf\u03b1\u03b5\u03c1\u03b9\u03bd\u03c5\u03ba",
    "aeopcxyijshkmthboaepivuk",
)
"""Cyrillic and Greek letters that look like Latin ones."""

_LETTERS_APART = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b){3,}")
_CHARACTER_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));?")
_TAG_CHARACTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_LINE_ENDS = dict.fromkeys(map(ord, "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_UNSEEN = frozenset({"Mn", "Me", "Cf"})


def fold_text(text: str) -> str:
    """The text in lower case and plain letters: no accents, wide or styled forms, invisible characters.

    Letters apart ("i g n o r e") are joined; numeric character references and tag characters are read.
    """
    if "&#" in text:
        # not `html.unescape`: it refuses a reference of more than 4,300 digits
        text = _CHARACTER_REFERENCE.sub(_read_reference, text)
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.translate(_TAG_CHARACTERS | _LINE_ENDS))
        unseen = {character for character in set(decomposed) if unicodedata.category(character) in _UNSEEN}
        text = decomposed.translate(dict.fromkeys(map(ord, unseen)))
    return _LETTERS_APART.sub(lambda found: found[0].replace(" ", ""), text.casefold())


def replace_lookalikes(word: str) -> str:
    """A folded word with Latin letters in place of Cyrillic and Greek ones that look the same."""
    return word.translate(_LOOKALIKES)


def _read_reference(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    return chr(code) if code < 0x110000 else found[0]  # noqa: PLR2004 - the end of Unicode
