"""RabbitMQ's transport for consuming: what a producer puts around a body is data, and cannot hurt.

The libraries below interpret properties before our consumer sees the delivery: a header table that cannot be
read ends the process, a `compression` header unpacks the body without a limit, a `content_encoding` rewrites
it. Here an unreadable table is left out, and the body stays the bytes that were published.
"""

from __future__ import annotations

import logging
import struct
from typing import Any

from amqp import serialization
from amqp.spec import Basic
from kombu.transport import pyamqp

logger = logging.getLogger(__name__)

_HAS_CONTENT_TYPE, _HAS_CONTENT_ENCODING, _HAS_HEADERS = 0x8000, 0x4000, 0x2000


def decode_properties(buffer: bytes | memoryview, offset: int) -> tuple[dict[str, Any], int]:
    """The properties in a content header, without the header table where that cannot be read.

    Args:
        buffer: the whole frame.
        offset: of the property flags, AMQP 0-9-1 section 4.2.6.1.
    """
    try:
        decoded: tuple[dict[str, Any], int] = serialization.decode_properties_basic(buffer, offset)
    except Exception as error:  # noqa: BLE001 - whatever a producer's bytes make it raise
        logger.warning("amqp_properties_unreadable", extra={"error": type(error).__name__})
        return _decode_rest(bytes(buffer[offset:])), len(buffer)
    return decoded


def _decode_rest(properties: bytes) -> dict[str, Any]:
    try:
        decoded: dict[str, Any] = serialization.decode_properties_basic(_cut_headers(properties), 0)[0]
    except Exception:  # noqa: BLE001 - as above; a body needs no properties
        return {}
    return decoded


def _cut_headers(properties: bytes) -> bytes:
    """The same properties without their header table, which its length lets us step over."""
    (flags,) = struct.unpack_from(">H", properties)
    position = 2
    for flag in (_HAS_CONTENT_TYPE, _HAS_CONTENT_ENCODING):
        if flags & flag:
            position += 1 + properties[position]
    (table_bytes,) = struct.unpack_from(">I", properties, position)
    rest = properties[position + 4 + table_bytes :]
    return struct.pack(">H", flags & ~_HAS_HEADERS) + properties[2:position] + rest


# amqp looks the decoder up here; there is no other way to give it one
serialization.PROPERTY_CLASSES[Basic.CLASS_ID] = decode_properties


class Message(pyamqp.Message):
    """A delivery whose body is never unpacked because a header says so."""

    def __init__(self, msg: Any, channel: Any = None, **options: Any) -> None:  # noqa: ANN401 - untyped library
        msg.properties.get("application_headers", {}).pop("compression", None)
        super().__init__(msg, channel=channel, **options)


class Channel(pyamqp.Channel):
    """A channel whose bodies are bytes, whatever encoding they claim."""

    Message = Message

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - untyped library
        super().__init__(*arguments, **{**options, "auto_decode": False})


class Connection(pyamqp.Connection):
    """A connection of such channels."""

    Channel = Channel


class Transport(pyamqp.Transport):
    """What `amqp://` means to a consumer."""

    Connection = Connection


class SSLTransport(pyamqp.SSLTransport):
    """What `amqps://` means to a consumer."""

    Connection = Connection
