"""The texts of an OTLP export, read with the names that they stand under, and written back longer or shorter.

What is no part of an export that a decoder would read is handed out as bytes, and written as it comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.protobuf_wire import read_fields, to_signed
from ragsonde.extraction.nesting import NESTING_LEVELS
from ragsonde_schemas.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.decoding.protobuf_wire import WireField

_ID, _TEXT, _ATTRIBUTE, _ANY = "id", "text", "attribute", "any"
_MESSAGES: dict[str, dict[int, str]] = {
    "export": {0x0A: "resource_spans"},
    "resource_spans": {0x0A: "resource", 0x12: "scope_spans", 0x1A: _TEXT},
    "resource": {0x0A: _ATTRIBUTE},
    "scope_spans": {0x0A: "scope", 0x12: "span", 0x1A: _TEXT},
    "scope": {0x0A: _TEXT, 0x12: _TEXT, 0x1A: _ATTRIBUTE},
    "span": {
        0x0A: _ID, 0x12: _ID, 0x22: _ID, 0x1A: _TEXT, 0x2A: _TEXT, 0x4A: _ATTRIBUTE, 0x5A: "event",
        0x6A: "link", 0x7A: "status",
    },
    "event": {0x12: _TEXT, 0x1A: _ATTRIBUTE},
    "link": {0x0A: _ID, 0x12: _ID, 0x1A: _TEXT, 0x22: _ATTRIBUTE},
    "status": {0x12: _TEXT},
    _ATTRIBUTE: {0x0A: _TEXT, 0x12: _ANY},
    _ANY: {0x0A: _TEXT, 0x2A: "array", 0x32: "map"},
    "array": {0x0A: _ANY},
    "map": {0x0A: _ATTRIBUTE},
}  # fmt: skip
"""By field key, what lies in it: trace/v1/trace.proto, resource/v1/resource.proto, common/v1/common.proto."""
_ID_BYTES = frozenset({0, 8, 16})
_KEY, _STRING, _INT = 0x0A, 0x0A, 0x18
_LENGTH = 2
_CONTINUES = 0x80


class Texts(NamedTuple):
    """What is made of an export's texts.

    Attributes:
        text: of a text or an integer, and the name of the attribute that it is the value of, '' elsewhere.
        rest: of bytes that are no text.
    """

    text: Callable[[str, str | int], str | int]
    rest: Callable[[bytes], bytes]


def map_texts(body: bytes, texts: Texts) -> bytes:
    """The export with each text in its turn replaced; lengths are those of what was written."""
    return _map(body, "export", "", texts, depth=0)


def _map(raw: bytes, kind: str, name: str, texts: Texts, *, depth: int) -> bytes:
    try:
        if depth > 2 * NESTING_LEVELS:
            return texts.rest(raw)
        fields = read_fields(raw, 0, len(raw))
        label = name if kind != _ATTRIBUTE else _join(name, _read_key(raw, fields))
    except (DecodeError, UnicodeDecodeError):
        return texts.rest(raw)
    return b"".join(_map_field(raw, field, (kind, label), texts, depth=depth) for field in fields)


def _map_field(raw: bytes, field: WireField, of: tuple[str, str], texts: Texts, *, depth: int) -> bytes:
    kind, name = of
    key, start, end = field
    wire_type = key & 7
    if wire_type != _LENGTH:
        if kind == _ANY and key == _INT:
            number = to_signed(start)
            kept = texts.text(name, number)
            if kept != number:
                return _write(_STRING, str(kept).encode())
        return _write_number(key) + (_write_number(start) if wire_type == 0 else raw[start:end])
    inner = raw[start:end]
    inside = _MESSAGES[kind].get(key)
    if inside is None or (inside == _ID and len(inner) not in _ID_BYTES):
        return _write(key, texts.rest(inner))
    if inside == _ID:
        return _write(key, inner)
    if inside == _TEXT:
        return _write(key, _map_text(inner, name if kind == _ANY else "", texts))
    return _write(key, _map(inner, inside, name, texts, depth=depth + 1))


def _map_text(raw: bytes, name: str, texts: Texts) -> bytes:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return texts.rest(raw)
    return str(texts.text(name, text)).encode(errors="replace")


def _read_key(raw: bytes, fields: list[WireField]) -> str:
    return next((raw[start:end].decode() for key, start, end in fields if key == _KEY), "")


def _join(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _write(key: int, content: bytes) -> bytes:
    return _write_number(key) + _write_number(len(content)) + content


def _write_number(number: int) -> bytes:
    written = bytearray()
    while number >= _CONTINUES:
        written.append(number & (_CONTINUES - 1) | _CONTINUES)
        number >>= 7
    written.append(number)
    return bytes(written)
