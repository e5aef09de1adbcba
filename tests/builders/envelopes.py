"""Deliveries as the intake hands them to the decoder."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DecodeError

RECEIVED_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RECEIPT = Receipt(received_at=RECEIVED_AT)


def wrap(body: bytes, *, content_type=None, content_encoding=None, body_bytes=None) -> Envelope:
    """The envelope of `body`."""
    return Envelope(
        body=body,
        body_bytes=len(body) if body_bytes is None else body_bytes,
        content_type=content_type,
        content_encoding=content_encoding,
        message_key=hashlib.sha256(body).hexdigest(),
        received_at=RECEIVED_AT,
    )


def wrap_json(value, **options) -> Envelope:
    """The envelope of a JSON value."""
    return wrap(json.dumps(value).encode(), **options)


def find_refusal(read, *arguments, **options) -> DecodeError | None:
    """The error that `read` refuses its arguments with, or None; any other error comes out."""
    try:
        read(*arguments, **options)
    except DecodeError as error:
        return error
    return None
