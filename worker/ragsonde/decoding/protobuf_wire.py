"""The protobuf wire format: fields of a message, read where they lie.

Encoding: https://protobuf.dev/programming-guides/encoding/. A field's key is its number * 8 + its wire type;
decoders compare whole keys, so that a known number with another type is no known field.
"""

from __future__ import annotations

from ragsonde_schemas.errors import DecodeError, ParkReason

_VARINT = 0
_BYTES = 2
_FIXED_SIZES = {1: 8, 5: 4}
_LOWEST_KEY = 8
_CONTINUES = 0x80
_VARINT_BITS = 70

WireField = tuple[int, int, int]
"""Key; then value and 0 of a varint, or start and end of any other field's bytes."""


def read_fields(buffer: bytes, start: int, end: int) -> list[WireField]:
    """The fields of the message that lies in `buffer[start:end]`, in order, unknown ones too.

    Raises:
        DecodeError: INVALID_PROTOBUF with the offset, where the bytes are no message.
    """
    fields: list[WireField] = []
    at = start
    while at < end:
        key = buffer[at]
        at += 1
        if key >= _CONTINUES:
            key, at = _read_varint(buffer, at - 1, end)
        wire_type = key & 7
        if wire_type == _VARINT:
            value, at = _read_varint(buffer, at, end)
            fields.append((key, value, 0))
        else:
            if wire_type == _BYTES:
                # the common case, a length below 128, without a call
                if at < end and buffer[at] < _CONTINUES:
                    size = buffer[at]
                    at += 1
                else:
                    size, at = _read_varint(buffer, at, end)
            else:
                size = _FIXED_SIZES.get(wire_type, -1)
            if size < 0 or key < _LOWEST_KEY:
                raise _fail(at, f"a field with key {key} does not occur in OTLP")
            fields.append((key, at, at + size))
            at += size
    if at > end:
        raise _fail(end, f"a field reaches {at - end} bytes beyond its message (truncated, or no protobuf)")
    return fields


def to_signed(value: int) -> int:
    """An int64 from the unsigned value of its varint."""
    value &= 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value


def _read_varint(buffer: bytes, start: int, end: int) -> tuple[int, int]:
    """Value of the varint at `start` and the offset behind it."""
    value = shift = 0
    at = start
    while at < end and shift < _VARINT_BITS:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < _CONTINUES:
            return value, at
        shift += 7
    raise _fail(start, "a varint without end")


def _fail(offset: int, message: str) -> DecodeError:
    return DecodeError(ParkReason.INVALID_PROTOBUF, f"{message}, at byte {offset}")
