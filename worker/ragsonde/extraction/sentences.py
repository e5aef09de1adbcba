"""How a context's text is cut into numbered sentences: the one place, for every judge and scorer.

A line end always ends a sentence; inside a line, stops do, unless what stands around them says otherwise
(abbreviation, initial, list marker, ordinal, a lower-case continuation). Pieces without a letter or digit and
list markers are no sentences: they belong to what follows. Everything is decided in one pass over the stops,
looking at bounded windows only, so that time is linear in the text whatever it holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.abbreviations import LABELS, NEVER_LAST, ORDINAL_LEADS, SELDOM_LAST, STARTERS
from ragsonde_schemas.trace import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

SPLITTER_VERSION = "1"
"""Part of every judge's fingerprint: raise it whenever a text may be cut in another way."""

MAX_CHARACTERS = 600
"""No sentence is longer; longer ones are cut at a space or comma."""

WINDOW_CHARACTERS = 120
"""Scripts that write no stops are cut at the first space after so many characters."""

_WORD_WINDOW = 24
"""How far back, in characters, the word before a stop is looked for."""

_MARKER_CHARACTERS = 7
_ORDINAL_DIGITS = 2
_WIDE_STOPS = "\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u104b\u17d4\u17d5"
"""Ideographic, full-width, danda, Arabic, Armenian, Ethiopic, Burmese, Khmer: they end without a space."""

_SPACED_STOPS = ".!?\u2026\u2025;\u037e"
_GREEK_QUESTION_MARKS = ";\u037e"
_CLOSERS = "\"'\u201d\u201c\u2019)\\]\u00bb\u203a}\u300d\u300f\uff09\u300b\u3011\u3009"
_OPENERS = "\"'\u201c\u2018\u201e\u00ab\u2039([{\u300c\u300e\uff08\u300a\u3010\u3008\u00bf\u00a1*_"
_BULLETS = "\u2022\u25aa\u2023\u25e6\u25cf\u25a0"
_BREAKS = " ,\uff0c\u3001\t\u3000"
# possessive: the engine never tries a shorter run of stops again
_CUT = re.compile(
    rf"[{_WIDE_STOPS}{_SPACED_STOPS}]++[{_CLOSERS}]*+(?:\[\d{{1,3}}\])*+|(?<=\s)[{_BULLETS}](?=\s)"
)
_WIDE = re.compile(f"[{_WIDE_STOPS}]")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_UNSTOPPED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_MARKER = re.compile(r"(?:\d{1,3}|[^\W\d_]|[ivxlc]{1,5}|[IVXLC]{1,5})[.)\]]{1,2}")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
_WORDED = re.compile(r"[^\W_]")
_NEXT_WORD = re.compile(rf"[\s{re.escape(_OPENERS)}]{{0,8}}([^\W_]*)([.)]?)")
_YEAR_IN_BRACKETS = re.compile(r"\s\((?:\d|c\.)")


class _Piece(NamedTuple):
    line: int
    text: str


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order, stripped, none empty, none longer than `MAX_CHARACTERS`.

    Joined without white space they are the text without white space.
    """
    return [piece.text for piece in _cut_text(text)]


def number_sentences(content: str, *, context_number: str) -> tuple[Sentence, ...]:
    """The sentences of a context, numbered "c.1", "c.2", ... over all its lines; empty for blank content.

    Args:
        content: the context's whole text.
        context_number: "c", counted from 1.
    """
    return tuple(
        Sentence(number=f"{context_number}.{place}", text=piece.text, line=piece.line)
        for place, piece in enumerate(_cut_text(content), start=1)
    )


def _cut_text(text: str) -> Iterator[_Piece]:
    has_capitals = text != text.lower()
    has_unstopped = _UNSTOPPED.search(text) is not None
    for line, content in enumerate(_join_markers(text)):
        for sentence in _cut_line(content, has_capitals=has_capitals):
            if len(sentence) > MAX_CHARACTERS or (has_unstopped and len(sentence) > WINDOW_CHARACTERS):
                for window in _cut_windows(sentence):
                    yield _Piece(line, window)
            else:
                yield _Piece(line, sentence)


def _join_markers(text: str) -> list[str]:
    """The non-empty lines; one that is only a list marker or has no word stands before the next one."""
    lines: list[str] = []
    held: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line:
            continue
        held.append(line)
        if _is_sentence(line):
            lines.append(" ".join(held))
            held = []
    if held:
        if lines:
            held.insert(0, lines.pop())
        lines.append(" ".join(held))
    return lines


def _is_sentence(text: str, begin: int = 0, end: int | None = None) -> bool:
    """Whether a piece has a word, and is more than a list marker."""
    last = len(text) if end is None else end
    word = _WORDED.search(text, begin, last)
    if word is None:
        return False
    first = word.start()
    return last - first > _MARKER_CHARACTERS or _MARKER.fullmatch(text, first, last) is None


def _cut_line(line: str, *, has_capitals: bool) -> list[str]:
    sentences: list[str] = []
    begin = 0
    word = _WORDED.search(line)
    for match in _CUT.finditer(line):
        if word is None:
            break
        is_bullet = line[match.start()] in _BULLETS
        end = match.start() if is_bullet else match.end()
        if end <= word.start() or (
            end - word.start() <= _MARKER_CHARACTERS and not _is_sentence(line, word.start(), end)
        ):
            continue
        if is_bullet or _is_end(line, match, begin=begin, has_capitals=has_capitals):
            sentences.append(line[begin:end].strip())
            begin = end
            word = _WORDED.search(line, begin)
    rest = line[begin:].strip()
    if rest and sentences and not _is_sentence(rest):
        # a list marker or dots with nothing after them
        sentences[-1] = f"{sentences[-1]} {rest}"
    elif rest:
        sentences.append(rest)
    return sentences


def _is_end(line: str, match: re.Match[str], *, begin: int, has_capitals: bool) -> bool:
    """Whether the stops of `match` end the sentence that began at `begin`."""
    start, end = match.span()
    if end == len(line) or _WIDE.search(line, start, end):
        return True
    before = line[start - 1] if start else ""
    if not line[end].isspace():
        return _CJK.match(before) is not None and (_CJK.match(line[end]) is not None or line[end] in _OPENERS)
    if line[start] in _GREEK_QUESTION_MARKS:
        return _GREEK.match(before) is not None
    return not _is_continued(line, match, begin=begin, has_capitals=has_capitals)


def _is_continued(line: str, match: re.Match[str], *, begin: int, has_capitals: bool) -> bool:
    """Whether the sentence goes on after stops that white space follows."""
    start, end = match.span()
    found = _NEXT_WORD.match(line, end)
    following_word, mark = found.groups() if found else ("", "")
    if mark == ")" and len(following_word) == 1:
        return False
    if (has_capitals and following_word[:1].islower()) or _YEAR_IN_BRACKETS.match(line, end):
        return True
    if line[start] != "." or line[start : start + 2] == "..":
        return False
    begins_sentence = (
        not (mark == "." and len(following_word) == 1)
        and following_word[:1].isupper()
        and following_word.lower() in STARTERS
    )
    before = line[max(begin, start - _WORD_WINDOW) : start]
    return _is_abbreviation(before, begins_sentence=begins_sentence)


def _is_abbreviation(before: str, *, begins_sentence: bool) -> bool:
    """Whether a single full stop belongs to the last word of `before`.

    Args:
        before: the end of the text before the stop.
        begins_sentence: the word after the stop is one that begins sentences.
    """
    words = before.split()
    if not words or before[-1].isspace():
        return False
    word = words[-1].lstrip(_OPENERS)
    previous = words[-2].lower().lstrip(_OPENERS) if len(words) > 1 else ""
    lowered = word.lower()
    if lowered in NEVER_LAST:
        return True
    if word.isdigit():
        return len(word) <= _ORDINAL_DIGITS and previous in ORDINAL_LEADS and not begins_sentence
    if lowered in SELDOM_LAST or _DOTTED.fullmatch(word):
        return not begins_sentence
    if len(word) == 1 and word.isalpha() and not _CJK.match(word):
        return not begins_sentence and previous not in LABELS
    return False


def _cut_windows(sentence: str) -> Iterator[str]:
    """A long sentence in parts: at spaces where its script writes no stops, else none over the limit."""
    is_unstopped = 2 * len(_UNSTOPPED.findall(sentence)) > len(sentence)
    begin = 0
    while begin < len(sentence):
        if sentence[begin].isspace():
            begin += 1
            continue
        end = _find_window_end(sentence, begin=begin, is_unstopped=is_unstopped)
        yield sentence[begin:end].rstrip()
        begin = end


def _find_window_end(sentence: str, *, begin: int, is_unstopped: bool) -> int:
    limit = begin + MAX_CHARACTERS
    if is_unstopped:
        space = sentence.find(" ", begin + WINDOW_CHARACTERS, limit)
        if space > 0 and len(sentence) - space > WINDOW_CHARACTERS // 3:
            return space
    if len(sentence) <= limit:
        return len(sentence)
    last_break = max(sentence.rfind(mark, begin + MAX_CHARACTERS // 2, limit) for mark in _BREAKS)
    return last_break + 1 if last_break > 0 else limit
