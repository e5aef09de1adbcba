"""What is compressed, unpacked: for the decoder one level, for who only looks inside as far as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.compression import decompress
from ragsonde.decoding.sniffing import find_compression
from ragsonde_schemas.errors import DecodeError

if TYPE_CHECKING:
    from ragsonde.decoding.compression import Compression

_MOST_LEVELS = 4


def unpack(body: bytes, *, encoding: str | None, limit: int) -> tuple[bytes, Compression | None]:
    """The plain bytes of a body, and how it was compressed; None where it was not.

    Args:
        body: as it was delivered.
        encoding: the content encoding that its producer named.
        limit: how many bytes it may decompress to.

    Raises:
        DecodeError: OVERSIZE or INVALID_COMPRESSION.
    """
    compression = find_compression(body, encoding=encoding)
    if compression is None:
        return body, None
    return decompress(body, compression=compression, limit=limit), compression


def look_inside(body: bytes, *, encoding: str | None, limit: int) -> bytes:
    """The plain bytes of a body as far as it can be unpacked, packed more than once too; never raises."""
    for _ in range(_MOST_LEVELS):
        try:
            body, compression = unpack(body, encoding=encoding, limit=limit)
        except DecodeError:
            return body
        if compression is None:
            return body
        encoding = _drop_last(encoding)
    return body


def _drop_last(encoding: str | None) -> str | None:
    """Of `deflate, deflate` the encodings below the one that was undone."""
    names = [name for name in (encoding or "").split(",") if name.strip()]
    return ",".join(names[:-1]) or None
