"""Strict JSON: what parsers disagree about is refused, and the place is named.

Refused as `invalid_json`: anything RFC 8259 does not allow, NaN and Infinity, numbers no double can hold, a
key that occurs twice in one object (parsers disagree about which one holds, so the message has no one
meaning), and nesting deeper than the limit. A byte order mark is skipped. Escapes of NUL and of lone
surrogates are valid JSON, but no text that can be stored: they are mended.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ragsonde.extraction.nesting import find_too_deep
from ragsonde.extraction.paths import format_path
from ragsonde.extraction.strict_json import RefusedNumberError, parse_json
from ragsonde.extraction.texts import mend_value
from ragsonde_schemas.errors import DecodeError, ParkReason

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNSTORABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_EXPECTED_NUMBER = "expected a number that a double can hold"
_NUMBER_CHARACTERS = 40
_STRING_OR_WORD = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[-+.\w]++', re.DOTALL)


REPEATED_KEY = "the key occurs twice in one object, expected each key once: which value holds is not defined"
Place = tuple[str | int, ...]
"""The keys and indices that lead to a value."""


class Damage(NamedTuple):
    """A part of a JSON value that cannot be kept: its place, and what is wrong with it."""

    place: Place
    message: str

    def to_error(self) -> DecodeError:
        """The error that refuses the message, or the piece of it that holds the part."""
        return DecodeError(ParkReason.INVALID_JSON, self.message, where=format_path(*self.place))


class JsonDocument(NamedTuple):
    """A JSON value.

    Attributes:
        mended: paths of the texts in it that were mended.
        damage: the parts of it that cannot be kept; `Unreadable` stands for each of them.
        refusal: the error that refuses the whole for its damage, None where there is none.
    """

    value: Any
    mended: tuple[str, ...] = ()
    damage: tuple[Damage, ...] = ()
    refusal: DecodeError | None = None


class _Repeating(dict[str, Any]):
    """An object one of whose keys occurs twice."""

    repeated = ""


def read_json(body: bytes, *, nesting_levels: int) -> JsonDocument:
    """The JSON value that `body` holds.

    Args:
        body: the text in UTF-8.
        nesting_levels: of lists and objects inside each other.

    Raises:
        DecodeError: INVALID_UTF8 with the offset of the byte, INVALID_JSON with line and column or the path.
    """
    text = _read_utf8(body)
    too_deep = find_too_deep(text, limit=nesting_levels)
    if too_deep is not None:
        place = _format_position(text, too_deep)
        message = f"nested deeper than {nesting_levels} levels at {place}"
        raise DecodeError(ParkReason.INVALID_JSON, f"{message}; publish flatter metadata")
    repeating: list[_Repeating] = []
    value = _parse(text, repeating)
    if repeating:
        path = format_path(*(_find_repeating(value) or (repeating[0].repeated,)))
        raise DecodeError(ParkReason.INVALID_JSON, REPEATED_KEY, where=path)
    if _UNSTORABLE_ESCAPE.search(text):
        return JsonDocument(*mend_value(value))
    return JsonDocument(value)


def _read_utf8(body: bytes) -> str:
    try:
        return body.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(BYTE_ORDER_MARK) if body.startswith(BYTE_ORDER_MARK) else 0)
        message = f"byte {offset} (0x{body[offset]:02x}) is no UTF-8; encode the JSON text as UTF-8"
        raise DecodeError(ParkReason.INVALID_UTF8, message) from error


def describe_number(number: str) -> str:
    """What is wrong with the text of a number that no double can hold."""
    return f"found {_shorten(number)}, {_EXPECTED_NUMBER}"


def find_repeated(pairs: list[tuple[str, Any]]) -> str:
    """The first key that occurs a second time; there is one."""
    seen: set[str] = set()
    return next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _parse(text: str, repeating: list[_Repeating]) -> object:
    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        marked = _Repeating(value)
        marked.repeated = find_repeated(pairs)
        repeating.append(marked)
        return marked

    try:
        return parse_json(text, read_object=read_object)
    except json.JSONDecodeError as error:
        raise DecodeError(ParkReason.INVALID_JSON, _describe_syntax(text, error)) from error
    except RefusedNumberError as error:
        number = str(error)
        place = next((match.start() for match in _STRING_OR_WORD.finditer(text) if match[0] == number), 0)
        message = f"found {_shorten(number)} at {_format_position(text, place)}, {_EXPECTED_NUMBER}"
        raise DecodeError(ParkReason.INVALID_JSON, message) from error


def _describe_syntax(text: str, error: json.JSONDecodeError) -> str:
    position = _format_position(text, error.pos)
    if error.msg == "Extra data":
        way_out = "publish one JSON value, or one object a line"
        return f"more follows after the first JSON value, at {position}; {way_out}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"the text ends inside a value ({error.msg}, at {position}): it was truncated"
    return f"no JSON: {error.msg} at {position}"


def _format_position(text: str, offset: int) -> str:
    """`line 3 column 5`; of a text of one line, which may be one of many, only the column."""
    column = offset - text.rfind("\n", 0, offset)
    if "\n" not in text.strip():
        return f"column {column}"
    line = text.count("\n", 0, offset) + 1
    return f"line {line} column {column}"


def _shorten(number: str) -> str:
    return number if len(number) <= _NUMBER_CHARACTERS else f"a number of {len(number)} characters"


def _find_repeating(value: object) -> tuple[str | int, ...] | None:
    """The path of a repeated key; None where the object that held it was itself overwritten."""
    if isinstance(value, _Repeating):
        return (value.repeated,)
    items: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in items:
        below = _find_repeating(item)
        if below is not None:
            return (key, *below)
    return None
