"""The three small protobuf messages that answer an OTLP export, written field by field.

`ExportTraceServiceResponse {1: ExportTracePartialSuccess {1: rejected_spans, 2: error_message}}` and
`google.rpc.Status {1: code, 2: message}`, as opentelemetry-proto and googleapis define them.
"""

from __future__ import annotations

_MORE = 0x80
_VARINT, _LENGTH_DELIMITED = 0, 2


def write_partial_success(rejected_spans: int, error_message: str) -> bytes:
    """An ExportTraceServiceResponse that says how many spans were refused, and why the first."""
    inner = _write_number(1, rejected_spans) + _write_bytes(2, error_message.encode())
    return _write_bytes(1, inner)


def write_status(code: int, message: str) -> bytes:
    """A google.rpc.Status."""
    return _write_number(1, code) + _write_bytes(2, message.encode())


def _write_number(field: int, value: int) -> bytes:
    return _write_varint(field << 3 | _VARINT) + _write_varint(value)


def _write_bytes(field: int, value: bytes) -> bytes:
    return _write_varint(field << 3 | _LENGTH_DELIMITED) + _write_varint(len(value)) + value


def _write_varint(value: int) -> bytes:
    parts = bytearray()
    while value >= _MORE:
        parts.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    parts.append(value)
    return bytes(parts)
