"""Which format a delivery is in, and its decoder: two tables, read from top to bottom.

The content type decides where it names a format. Else the first bytes tell JSON from protobuf, and a JSON
value's own keys tell which message it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.decoding.json_text import BYTE_ORDER_MARK, JsonDocument, read_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.native import decode_native, is_native
from ragsonde.decoding.otlp_json import decode_otlp_json, is_otlp_json
from ragsonde.decoding.otlp_protobuf import FIRST_BYTE, decode_otlp_protobuf
from ragsonde.decoding.wording import describe_value, list_names
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde_schemas.decoded import Decoded
    from ragsonde_schemas.envelope import Envelope

DEFAULT_LIMITS = DecodingLimits()
_JSON_TYPES = frozenset({"application/json", "text/json", "application/x-ndjson"})
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_COMPRESSED_ENCODINGS = frozenset({"gzip", "x-gzip", "zstd", "deflate", "br", "bzip2", "lzma"})
_CONTROL_BYTES = frozenset(range(0x20)) - frozenset(b"\t\n\r")


class JsonFormat(NamedTuple):
    """A message in JSON.

    Attributes:
        content_types: those that mean this format and no other.
        recognises: True for a value of this format.
    """

    name: str
    content_types: frozenset[str]
    recognises: Callable[[Any], bool]
    decode: Callable[[JsonDocument, DecodingLimits], Decoded]


class BinaryFormat(NamedTuple):
    """A message in bytes; `recognises` sees the body."""

    name: str
    content_types: frozenset[str]
    recognises: Callable[[bytes], bool]
    decode: Callable[[bytes, DecodingLimits], Decoded]


JSON_FORMATS = (
    JsonFormat("otlp_json", frozenset(), is_otlp_json, decode_otlp_json),
    JsonFormat("native", frozenset({CONTENT_TYPE}), is_native, decode_native),
)

BINARY_FORMATS = (
    BinaryFormat(
        "otlp_protobuf",
        frozenset({"application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf"}),
        lambda body: body[0] == FIRST_BYTE,
        decode_otlp_protobuf,
    ),
)


def decode(envelope: Envelope, *, limits: DecodingLimits = DEFAULT_LIMITS) -> Decoded:
    """What a delivery holds.

    Raises:
        DecodeError: whatever is wrong with it; nothing else is raised for any bytes.
    """
    _check_size(envelope, limits=limits)
    content_type = (envelope.content_type or "").split(";")[0].strip().lower()
    body = envelope.body
    _refuse_compression(body, encoding=envelope.content_encoding)
    for binary in BINARY_FORMATS:
        if content_type in binary.content_types:
            return binary.decode(body, limits)
    for json_format in JSON_FORMATS:
        if content_type in json_format.content_types:
            return json_format.decode(read_json(body, nesting_levels=limits.nesting_levels), limits)
    if content_type in _JSON_TYPES or content_type.endswith("+json") or _looks_like_json(body):
        return _decode_json(read_json(body, nesting_levels=limits.nesting_levels), limits)
    for binary in BINARY_FORMATS:
        if binary.recognises(body):
            return binary.decode(body, limits)
    raise DecodeError(
        ParkReason.UNKNOWN_FORMAT,
        f"found bytes that start with {body[:4].hex(' ')}, expected a JSON object in UTF-8 or an OTLP traces "
        "export in protobuf",
    )


def _check_size(envelope: Envelope, *, limits: DecodingLimits) -> None:
    size = max(envelope.body_bytes, len(envelope.body))
    if size > limits.body_bytes:
        message = f"found {size} bytes, expected at most {limits.body_bytes}"
        raise DecodeError(ParkReason.OVERSIZE, f"{message}; publish fewer or shorter contexts")
    if not envelope.body.removeprefix(BYTE_ORDER_MARK).strip():
        found = "blanks only" if envelope.body else "no byte"
        raise DecodeError(ParkReason.EMPTY_BODY, f"found {found}, expected a message")


def _refuse_compression(body: bytes, *, encoding: str | None) -> None:
    named = (encoding or "").strip().lower()
    found = next((name for magic, name in _COMPRESSIONS.items() if body.startswith(magic)), None)
    if found is None and named in _COMPRESSED_ENCODINGS:
        found = named
    if found is not None:
        message = f"found {found} compression, which is not read yet; publish the body uncompressed"
        raise DecodeError(ParkReason.INVALID_COMPRESSION, message)


def _looks_like_json(body: bytes) -> bool:
    """True when the first byte that is no blank opens an object or list.

    A protobuf export starts with the byte of a line end too, and its second byte, a length, may look like
    anything. But it holds control bytes (each trace id's length is one, 16), which JSON never does.
    """
    start = body.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1]
    if start not in {b"{", b"["}:
        return False
    return body[0] != FIRST_BYTE or _CONTROL_BYTES.isdisjoint(body)


def _decode_json(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    for json_format in JSON_FORMATS:
        if json_format.recognises(document.value):
            return json_format.decode(document, limits)
    expected = (
        "expected a ragsonde trace message (trace_id, query, contexts, answer) or an OTLP traces export"
    )
    value = document.value
    found = describe_value(value)
    if isinstance(value, dict):
        found = f"an object with keys {list_names(list(value))}" if value else "an object without keys"
    raise DecodeError(ParkReason.UNKNOWN_FORMAT, f"found {found}, {expected}")
