"""Ids of traces and spans, in every form that exporters write them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import TRACE_ID_MAX_CHARACTERS

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import Place

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
_HEX = re.compile(r"[0-9a-fA-F]+")
_DECIMAL = re.compile(r"\d{1,40}", re.ASCII)
_HEX_LENGTHS = frozenset({2 * TRACE_ID_BYTES, 2 * SPAN_ID_BYTES})
_BYTE = 0xFF
_NO_PARENTS = frozenset({"", "0", "undefined", "null", "None"})


def read_id(
    value: object, place: Place, *, byte_count: int, reason: ParkReason = ParkReason.INVALID_MESSAGE
) -> str:
    """Lower-case hex of an id of `byte_count` bytes.

    Written in hex of any case, in base64 (told apart by its length), or as bytes in JSON: a list of numbers,
    an object with indices for keys, Node's `{"type": "Buffer", "data": [...]}`.

    Raises:
        DecodeError: with `reason`, where it is another size or all zeros.
    """
    found = find_id(value, byte_count=byte_count)
    if found is not None:
        return found
    expected = f"expected {2 * byte_count} hex digits that are not all zero"
    raise DecodeError(reason, f"found {describe_value(value)}, {expected}", where=format_path(*place))


def read_trace_id(value: object, place: Place) -> str:
    """Lower-case hex of a trace id; see `read_id`."""
    return read_id(value, place, byte_count=TRACE_ID_BYTES, reason=ParkReason.BAD_TRACE_ID)


def find_id(value: object, *, byte_count: int) -> str | None:
    """What `read_id` returns, or None where it would raise."""
    raw: bytes | None = None
    if isinstance(value, str):
        if len(value) == 2 * byte_count and _HEX.fullmatch(value):
            return value.lower() if value.strip("0") else None
        if len(value) == -(-byte_count // 3) * 4:
            raw = _decode_base64(value)
    elif isinstance(value, dict | list):
        raw = _gather_bytes(value)
    return raw.hex() if raw is not None and len(raw) == byte_count and any(raw) else None


def read_parent(value: object, place: Place) -> str | None:
    """Lower-case hex of a parent's span id; None for a root, whose parent is absent, empty or all zeros."""
    if value is None or (isinstance(value, str) and not value.strip("0")):
        return None
    raw = _decode_base64(value) if isinstance(value, str) else _gather_bytes(value)
    if raw is not None and not any(raw):
        return None
    return read_id(value, place, byte_count=SPAN_ID_BYTES)


def read_name(value: object, place: Place, *, reason: ParkReason = ParkReason.INVALID_MESSAGE) -> str:
    """An id of another tool's making: 1 to 128 printable characters, or an integer.

    As it came, but that hex digits as many as OpenTelemetry's ids have are in lower case: the same trace may
    come from its exporter too.

    Raises:
        DecodeError: with `reason`, where it is none.
    """
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if (
        isinstance(text, str)
        and 0 < len(text) <= TRACE_ID_MAX_CHARACTERS
        and text.isprintable()
        and text.strip()
    ):
        return text.lower() if len(text) in _HEX_LENGTHS and _HEX.fullmatch(text) else text
    expected = f"expected an id of 1 to {TRACE_ID_MAX_CHARACTERS} printable characters"
    raise DecodeError(reason, f"found {describe_value(value)}, {expected}", where=format_path(*place))


def names_no_parent(value: object) -> bool:
    """True where the id of a parent says that there is none: absent, zero, or a word for nothing."""
    return value is None or value == 0 or (isinstance(value, str) and value.strip() in _NO_PARENTS)


def convert_decimal(text: str, *, byte_count: int) -> str:
    """An id written in decimal as lower-case hex; what is no such number stays as it is."""
    if not _DECIMAL.fullmatch(text):
        return text
    number = int(text)
    return f"{number:0{2 * byte_count}x}" if number >> (8 * byte_count) == 0 else text


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _gather_bytes(value: object) -> bytes | None:
    if isinstance(value, dict):
        value = value["data"] if "data" in value else list(value.values())
    if not isinstance(value, list) or len(value) > TRACE_ID_BYTES:
        return None
    if any(not isinstance(item, int) or not 0 <= item <= _BYTE for item in value):
        return None
    return bytes(value)
