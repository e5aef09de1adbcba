"""Which part a word plays in an instruction to a judge, by language; and which parts make one.

The words stand in `injection_words.json`: `spaced` for languages that part words, where `x*` is a beginning,
`unspaced` for Chinese, Japanese and Korean, which are searched for anywhere.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ragsonde.extraction.injection_folding import fold_text, replace_lookalikes

KEY_CHARACTERS = 4
"""Words are looked up by so many of their first characters."""

_WORD = re.compile(r"\w+")
_UNSPACED_SCRIPT = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u4e00-\u9fff]")
_CHARACTERS_A_WORD = 2
_ARABIC_PREFIXES = "\u0648\u0641\u0628\u0644\u0643"
_FIRST_ARABIC = "\u0600"


class Recipe(NamedTuple):
    """Parts that make an instruction when they stand within so many words."""

    parts: tuple[str, ...]
    words: int


OVERRIDING = (
    Recipe(("override", "rule"), 8),
    Recipe(("override", "weak_rule", "prior"), 8),
    Recipe(("not", "follow", "rule", "prior"), 10),
    Recipe(("not", "follow", "weak_rule", "prior"), 10),
    Recipe(("judge", "override"), 6),
    Recipe(("void", "your", "rule"), 8),
    Recipe(("void", "your", "weak_rule"), 8),
)
"""The judge's own instructions are to be left aside."""

STEERING = (
    Recipe(("rate", "object", "top", "all"), 12),
    Recipe(("rate", "object", "top", "this"), 12),
    Recipe(("rate", "object", "top", "judge"), 12),
    Recipe(("rate", "all", "top"), 4),
    Recipe(("rate", "this", "top"), 4),
    Recipe(("rate", "object", "number", "all"), 10),
    Recipe(("rate", "object", "number", "this"), 10),
    Recipe(("rate", "all", "number"), 4),
    Recipe(("rate", "this", "number"), 4),
    Recipe(("say", "object", "top", "all"), 10),
    Recipe(("say", "object", "top", "this"), 10),
    Recipe(("say", "object", "top", "judge"), 12),
    Recipe(("all", "object", "top", "is"), 8),
    Recipe(("judge", "object", "top"), 12),
    Recipe(("judge", "rate", "top"), 14),
    Recipe(("judge", "say", "top"), 10),
    Recipe(("judge", "object", "reads"), 10),
    Recipe(("judge", "rate", "number"), 10),
    Recipe(("machine", "rate", "number"), 12),
    Recipe(("machine", "say", "object", "number"), 14),
    Recipe(("machine", "rate", "object", "top"), 16),
    Recipe(("machine", "rate", "reads"), 12),
    Recipe(("relevance", "object", "top"), 8),
    Recipe(("relevance", "object", "number"), 8),
    Recipe(("relevance", "level", "top"), 5),
    Recipe(("relevance", "say", "number"), 5),
)
"""A verdict is asked for or given."""

DECODING = (Recipe(("encoding", "task"), 10),)
"""Something is to be decoded and done."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words and their parts, parts as bits of a number.

    Attributes:
        bits: by part.
        words: (beginning, whether the word may go on, bits), by its first characters.
        unspaced: bits by phrase; `phrases` finds them.
        splits: of numbers seen so far.
    """

    bits: dict[str, int]
    words: dict[str, list[tuple[str, bool, int]]]
    unspaced: dict[str, int]
    phrases: re.Pattern[str]
    splits: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def find_parts(self, folded: str) -> list[tuple[int, int]]:
        """Position, counted in words, and parts of every word that plays one."""
        known = self.words
        found = [
            (position, bits)
            for position, word in enumerate(_WORD.findall(folded))
            # most words play no part: that is seen without a call
            if (word[:KEY_CHARACTERS] in known or not word.isascii()) and (bits := self._look_up(word))
        ]
        if folded.isascii() or not _UNSPACED_SCRIPT.search(folded):
            return found
        phrases = self.phrases.finditer(folded)
        return [(match.start() // _CHARACTERS_A_WORD, self.unspaced[match[0]]) for match in phrases] or found

    def split(self, bits: int) -> tuple[int, ...]:
        """The parts in a number, each as its bit."""
        if bits not in self.splits:
            self.splits[bits] = tuple(bit for bit in self.bits.values() if bit & bits)
        return self.splits[bits]

    def _look_up(self, word: str) -> int:
        bits = self._match(word)
        if bits or word.isascii():
            return bits
        if word[0] >= _FIRST_ARABIC and word[0] in _ARABIC_PREFIXES:
            return self._match(word[1:])
        return self._match(replace_lookalikes(word))

    def _match(self, word: str) -> int:
        total = 0
        for beginning, is_open, bits in self.words.get(word[:KEY_CHARACTERS], ()):
            if word == beginning or (is_open and word.startswith(beginning)):
                total |= bits
        return total


@cache
def load_lexicon() -> Lexicon:
    """The lexicon of the package."""
    text = files("ragsonde.extraction").joinpath("injection_words.json").read_text(encoding="utf-8")
    document = json.loads(text)
    bits = {part: 1 << position for position, part in enumerate(document["spaced"])}
    words: dict[str, dict[tuple[str, bool], int]] = {}
    for part, entries in document["spaced"].items():
        for entry in entries.split():
            beginning = fold_text(entry.rstrip("*"))
            of_key = words.setdefault(beginning[:KEY_CHARACTERS], {})
            name = (beginning, entry.endswith("*"))
            of_key[name] = of_key.get(name, 0) | bits[part]
    unspaced: dict[str, int] = {}
    for part, entries in document["unspaced"].items():
        for entry in map(fold_text, entries.split()):
            unspaced[entry] = unspaced.get(entry, 0) | bits[part]
    longest_first = sorted(unspaced, key=len, reverse=True)
    return Lexicon(
        bits=bits,
        words={
            key: [(beginning, is_open, parts) for (beginning, is_open), parts in of_key.items()]
            for key, of_key in words.items()
        },
        unspaced=unspaced,
        phrases=re.compile("|".join(map(re.escape, longest_first))),
    )
