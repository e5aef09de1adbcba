"""Decompression that no stream can use to fill the memory: the output is counted while it grows.

gzip by RFC 1952, deflate by RFC 1950 and 1951, zstd by RFC 8878.
"""

from __future__ import annotations

import io
import zlib
from enum import StrEnum

import zstandard

from ragsonde_schemas.errors import DecodeError, ParkReason

_WINDOW_BITS = {"gzip": 31, "zlib": 15, "deflate": -15}
_MEMBERS_AT_MOST = 10_000
_INPUT_BYTES = 16_384
_OUTPUT_BYTES = 262_144
_ZSTD_INPUT_BYTES = 256
"""A block of zstd makes at most 128 KiB of four bytes: so much input never makes more than 8 MiB at once."""
_ZSTD_WINDOW_BYTES = 8 * 1_048_576
"""What RFC 8878 asks every decoder to support."""


class Compression(StrEnum):
    """How a body is compressed; `zlib` is deflate with a header."""

    GZIP = "gzip"
    ZLIB = "zlib"
    DEFLATE = "deflate"
    ZSTD = "zstd"


class _Output:
    """What was decompressed so far."""

    def __init__(self, limit: int) -> None:
        self.buffer = io.BytesIO()
        self._limit = limit

    def write(self, piece: bytes) -> None:
        if self.buffer.tell() + len(piece) > self._limit:
            message = f"decompressed to more than {self._limit} bytes, expected at most so many"
            raise DecodeError(ParkReason.OVERSIZE, f"{message}; publish fewer records a message")
        self.buffer.write(piece)


def decompress(body: bytes, *, compression: Compression, limit: int) -> bytes:
    """The plain bytes of a compressed body, all its gzip members or zstd frames.

    Args:
        body: the whole stream.
        compression: what it was compressed with.
        limit: how many bytes it may decompress to; little more than that is ever held.

    Raises:
        DecodeError: OVERSIZE over the limit; INVALID_COMPRESSION where the stream is truncated or corrupt.
    """
    output = _Output(limit)
    try:
        if compression is Compression.ZSTD:
            _read_frames(body, output)
        else:
            _read_members(body, output, compression)
    except (zlib.error, zstandard.ZstdError) as error:
        raise _fail(f"the {compression} stream is corrupt ({error})") from error
    return output.buffer.getvalue()


def _read_members(body: bytes, output: _Output, compression: Compression) -> None:
    at = 0
    for _ in range(_MEMBERS_AT_MOST):
        at = _read_member(body, at, output, compression)
        rest = len(body) - at
        if rest == 0:
            return
        if compression is not Compression.GZIP or body[at] == 0:
            # gzip pads with zeros where it writes to a device of fixed blocks
            if compression is Compression.GZIP and body.count(0, at) == rest:
                return
            raise _fail(f"{rest} bytes follow behind the {compression} stream")
    raise _fail(f"found more than {_MEMBERS_AT_MOST} gzip members, expected at most so many")


def _read_member(body: bytes, start: int, output: _Output, compression: Compression) -> int:
    """Writes what the stream that begins at `start` holds; the offset behind it."""
    stream = zlib.decompressobj(_WINDOW_BITS[compression])
    at, pending = start, b""
    while not stream.eof:
        if not pending:
            pending = body[at : at + _INPUT_BYTES]
            at += len(pending)
        piece = stream.decompress(pending, _OUTPUT_BYTES)
        if not pending and not piece and not stream.eof:
            raise _truncated(compression)
        output.write(piece)
        pending = stream.unconsumed_tail
    return at - len(stream.unused_data)


def _read_frames(body: bytes, output: _Output) -> None:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    at = 0
    for _ in range(_MEMBERS_AT_MOST):
        stream = decompressor.decompressobj()
        while not stream.eof:
            piece = body[at : at + _ZSTD_INPUT_BYTES]
            if not piece:
                raise _truncated(Compression.ZSTD)
            at += len(piece)
            output.write(stream.decompress(piece))
        at -= len(stream.unused_data)
        if at == len(body):
            return
    raise _fail(f"found more than {_MEMBERS_AT_MOST} zstd frames, expected at most so many")


def _truncated(compression: Compression) -> DecodeError:
    return _fail(f"the {compression} stream ends before its end: it was truncated")


def _fail(message: str) -> DecodeError:
    return DecodeError(ParkReason.INVALID_COMPRESSION, f"{message}; publish the body again, whole")
