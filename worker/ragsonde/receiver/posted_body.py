"""Whether a worker will be able to read what was posted: it is decoded here as it will be there."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from ragsonde.decoding.compression import Compression, decompress
from ragsonde.decoding.sniffing import find_compression
from ragsonde.decoding.table import decode
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

_WITHOUT_MAGIC = (Compression.ZLIB, Compression.DEFLATE)


def unpack(body: bytes, *, encoding: str, limits: DecodingLimits) -> tuple[bytes, bytes]:
    """A body as it is published, and the same without compression.

    What is compressed stays so on the queue, where the first bytes tell how. Those of deflate do not, so it
    becomes gzip.

    Raises:
        DecodeError: it is compressed otherwise than it says, corrupt, or decompresses to more than the limit.
    """
    compression = find_compression(body, encoding=encoding or None)
    if compression is None:
        return body, body
    plain = decompress(body, compression=compression, limit=limits.decompressed_bytes)
    return (gzip.compress(plain) if compression in _WITHOUT_MAGIC else body), plain


def examine(body: bytes, *, content_type: str | None, limits: DecodingLimits) -> Decoded:
    """What a worker will find in a message.

    Raises:
        DecodeError: the worker would park it.
    """
    return decode(
        Envelope(
            body=body,
            body_bytes=len(body),
            content_type=content_type,
            message_key="",
            received_at=datetime.now(UTC),
        ),
        limits=limits,
    )


def choose_status(error: DecodeError) -> HTTPStatus:
    """The status that tells a client what was wrong with its body."""
    if error.reason is ParkReason.OVERSIZE:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return HTTPStatus.BAD_REQUEST
