"""What a body is: compressed or plain, JSON, JSON lines or bytes of another kind.

Producers often name neither content type nor encoding (the OpenTelemetry Collector's RabbitMQ exporter names
none), and sometimes name wrong ones: so the bytes decide wherever they can.
"""

from __future__ import annotations

import re
from enum import StrEnum

from ragsonde.decoding.compression import Compression
from ragsonde.decoding.json_text import BYTE_ORDER_MARK
from ragsonde_schemas.errors import DecodeError, ParkReason

PROTOBUF_FIRST_BYTE = 0x0A
"""Key of field 1 as a message; every OTLP export starts with it."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ENCODINGS = {
    "gzip": Compression.GZIP,
    "x-gzip": Compression.GZIP,
    "zstd": Compression.ZSTD,
    "deflate": Compression.DEFLATE,
}
_UNREAD_ENCODINGS = frozenset({"br", "bzip2", "compress", "x-compress", "lz4", "lzma", "snappy", "xz"})
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31
_JSON_TYPES = frozenset({"application/json", "text/json"})
_LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
_NEXT_LINE = re.compile(rb"[}\]][ \t\r]*\n\s*[{\[]")
"""One object or list ends and the next begins, on lines of their own: never inside one JSON value."""
_OTHER_LINE = re.compile(rb"^[ \t]*\{[^\n]*\}[ \t\r]*\n\s*[^\s,\]}]", re.MULTILINE)
"""An object on a line, and a next line that no JSON value goes on with."""
_OBJECT_LINE = re.compile(rb"^[ \t]*\{[^\n]*\}[ \t\r]*$", re.MULTILINE)
"""An object on a line of its own."""
_CONTROL_BYTES = frozenset(range(0x20)) - frozenset(b"\t\n\r")


class BodyKind(StrEnum):
    """What a plain body is written in."""

    JSON = "json"
    JSON_LINES = "json_lines"
    BYTES = "bytes"


def find_compression(body: bytes, *, encoding: str | None) -> Compression | None:
    """How a body is compressed; None: it is plain, whatever its content encoding says.

    The magic bytes of gzip and zstd decide. Deflate has none: it is believed of a body that is neither JSON
    nor protobuf by its first byte.

    Raises:
        DecodeError: INVALID_COMPRESSION, where the encoding names a compression that the bytes are not in, or
            one that is not read.
    """
    if body.startswith(_GZIP_MAGIC):
        return Compression.GZIP
    if body.startswith(_ZSTD_MAGIC):
        return Compression.ZSTD
    names = [name.strip().lower() for name in (encoding or "").split(",")]
    named = next((name for name in names if name in _ENCODINGS or name in _UNREAD_ENCODINGS), None)
    if named is None or not body or body[0] == PROTOBUF_FIRST_BYTE or opens_json(body):
        return None
    if named in _UNREAD_ENCODINGS:
        message = f"found {named} compression, expected gzip, zstd, deflate or none"
        raise DecodeError(ParkReason.INVALID_COMPRESSION, f"{message}; publish the body uncompressed")
    if _ENCODINGS[named] is not Compression.DEFLATE:
        message = f"the content encoding says {named}, found bytes that start with {body[:4].hex(' ')}"
        raise DecodeError(ParkReason.INVALID_COMPRESSION, f"{message}; publish the body uncompressed")
    has_header = body[0] & 0x0F == _ZLIB_METHOD and int.from_bytes(body[:2], "big") % _ZLIB_CHECK == 0
    return Compression.ZLIB if has_header else Compression.DEFLATE


def find_body_kind(body: bytes, *, content_type: str, is_json: bool = False) -> BodyKind:
    """What a plain body is written in.

    Args:
        body: without compression, not blank.
        content_type: in lower case, without parameters; '' where the producer named none.
        is_json: the content type names a format that is written in JSON.
    """
    if content_type in _LINES_TYPES:
        return BodyKind.JSON_LINES
    if is_json or content_type in _JSON_TYPES or content_type.endswith("+json") or _looks_like_json(body):
        return BodyKind.JSON_LINES if _holds_lines(body) else BodyKind.JSON
    if _CONTROL_BYTES.isdisjoint(body) and _holds_lines(body):
        return BodyKind.JSON_LINES
    return BodyKind.BYTES


def _holds_lines(body: bytes) -> bool:
    """True where one line is an object, or begins or ends one, and another line cannot belong to it."""
    if opens_json(body):
        return _NEXT_LINE.search(body) is not None or _OTHER_LINE.search(body) is not None
    return b"\n" in body and _OBJECT_LINE.search(body) is not None


def _looks_like_json(body: bytes) -> bool:
    """True when the first byte that is no blank opens an object or list.

    A protobuf export starts with the byte of a line end too, and its second byte, a length, may look like
    anything. But it holds control bytes (each trace id's length is one, 16), which JSON never does.
    """
    if not opens_json(body):
        return False
    return body[0] != PROTOBUF_FIRST_BYTE or _CONTROL_BYTES.isdisjoint(body)


def opens_json(body: bytes) -> bool:
    """True when the first byte that is no blank opens an object or list."""
    start = body.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1]
    return start != b"" and start in b"{["
