"""A foreign delivery becomes an envelope: bytes and what the transport says of them, nothing decided."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragsonde.intake.topology import TRACES_DEAD
from ragsonde_schemas.envelope import Envelope

if TYPE_CHECKING:
    from kombu.message import Message

KEPT_HEADERS = ("traceparent", "x-death", "x-delivery-count")
KEY_HEADER = "ragsonde-message-key"
"""Of a message that is published again: the key of what came first, whose body may be redacted since."""
KEPT_BYTES_OF_OVERSIZE = 64 * 1024
_MESSAGE_KEY = re.compile(r"[0-9a-f]{64}")
_MESSAGE_ID_MAX_CHARACTERS = 200
_HEADER_MAX_CHARACTERS = 1000


def read_envelope(message: Message, *, queue: str, received_at: datetime, max_body_bytes: int) -> Envelope:
    """The envelope of a delivery; of a body over the limit only the first 64 KiB are taken along.

    Args:
        message: kombu's message, whatever its producer put into it.
        queue: where it was taken from; a dead letter's is the one that it died in, which it is replayed to.
        received_at: now.
        max_body_bytes: the largest body that is decoded.
    """
    body = _read_body(message.body)
    kept = body if len(body) <= max_body_bytes else body[:KEPT_BYTES_OF_OVERSIZE]
    properties = message.properties or {}
    message_id = _read_text(properties.get("message_id"), limit=_MESSAGE_ID_MAX_CHARACTERS)
    return Envelope(
        body=kept,
        body_bytes=len(body),
        content_type=_read_text(message.content_type),
        content_encoding=_read_text(message.content_encoding),
        headers=_read_headers(message.headers),
        message_id=message_id,
        message_key=_find_first_key(message.headers) or compute_message_key(body),
        published_at=_read_timestamp(properties.get("timestamp")),
        received_at=received_at,
        redelivered=bool((message.delivery_info or {}).get("redelivered")),
        queue=_find_origin(message.headers) or queue if queue == TRACES_DEAD else queue,
    )


def compute_message_key(body: bytes) -> str:
    """The sha256 of a body: equal for every redelivery, different for every other message.

    A producer's message id would not do: it may be reused for another body.
    """
    return hashlib.sha256(body).hexdigest()


def _find_first_key(headers: object) -> str | None:
    """The key under which a message was parked that is published again; None of any other."""
    given = headers.get(KEY_HEADER) if isinstance(headers, dict) else None
    return given if isinstance(given, str) and _MESSAGE_KEY.fullmatch(given) else None


def _read_body(body: object) -> bytes:
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    return str(body if body is not None else "").encode("utf-8", "surrogatepass")


def _read_text(value: object, *, limit: int = _HEADER_MAX_CHARACTERS) -> str | None:
    if value is None or isinstance(value, bytes | bytearray):
        return None
    return str(value)[:limit] or None


def _read_headers(headers: object) -> dict[str, str]:
    if not isinstance(headers, dict):
        return {}
    kept: dict[str, Any] = {name: headers[name] for name in KEPT_HEADERS if name in headers}
    return {name: str(value)[:_HEADER_MAX_CHARACTERS] for name, value in kept.items()}


def _find_origin(headers: object) -> str | None:
    """The queue that a message last died in, as the broker says; None where it does not."""
    deaths = headers.get("x-death") if isinstance(headers, dict) else None
    latest = deaths[0] if isinstance(deaths, list) and deaths else None
    return _read_text(latest.get("queue")) if isinstance(latest, dict) else None


def _read_timestamp(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            return None
    return None
