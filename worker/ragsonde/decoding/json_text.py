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
_STRING_OR_WORD = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[-+.\w]++', re.DOTALL)


class JsonDocument(NamedTuple):
    """A JSON value and the paths of the texts in it that were mended."""

    value: Any
    mended: tuple[str, ...] = ()


class _Repeating(dict[str, Any]):
    """An object one of whose keys occurs twice."""

    repeated = ""


def read_json(body: bytes, *, nesting_levels: int) -> JsonDocument:
    """The JSON value that `body` holds.

    Raises:
        DecodeError: INVALID_UTF8 with the offset of the byte, INVALID_JSON with line and column or the path.
    """
    text = _read_utf8(body)
    too_deep = find_too_deep(text, limit=nesting_levels)
    if too_deep is not None:
        message = f"nested deeper than {nesting_levels} levels at {_format_position(text, too_deep)}"
        raise DecodeError(ParkReason.INVALID_JSON, f"{message}; publish flatter metadata")
    repeating: list[_Repeating] = []
    value = _parse(text, repeating)
    if repeating:
        path = format_path(*(_find_repeating(value) or (repeating[0].repeated,)))
        raise DecodeError(
            ParkReason.INVALID_JSON,
            "the key occurs twice in one object, expected each key once: which value holds is not defined",
            where=path,
        )
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


def _parse(text: str, repeating: list[_Repeating]) -> object:
    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        marked = _Repeating(value)
        seen: set[str] = set()
        marked.repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        repeating.append(marked)
        return marked

    try:
        return parse_json(text, read_object=read_object)
    except json.JSONDecodeError as error:
        raise DecodeError(ParkReason.INVALID_JSON, _describe_syntax(text, error)) from error
    except RefusedNumberError as error:
        number = str(error)
        found = number if len(number) <= 40 else f"a number of {len(number)} characters"  # noqa: PLR2004 one line
        place = next((match.start() for match in _STRING_OR_WORD.finditer(text) if match[0] == number), 0)
        message = (
            f"found {found} at {_format_position(text, place)}, expected a number that a double can hold"
        )
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
    line = text.count("\n", 0, offset) + 1
    return f"line {line} column {offset - text.rfind(chr(10), 0, offset)}"


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
