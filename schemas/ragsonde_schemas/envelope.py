"""One delivery as it came off the queue, before anything was read from it."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ragsonde_schemas.body_names import BodyNames
from ragsonde_schemas.value import Value


class Envelope(Value):
    """A delivery's bytes and what the transport says of them.

    Attributes:
        body: the payload; of a body over the limit only its first 64 KiB.
        body_bytes: the payload's whole size in bytes.
        content_type: as the producer set it, often absent.
        content_encoding: as the producer set it (`gzip`, `utf-8`), often absent.
        headers: traceparent, x-death, x-delivery-count, as strings; nothing else is kept.
        message_id: as the producer set it.
        message_key: names this delivery over redeliveries: the body's sha256, also of one that was parked and
            is published again with another body.
        published_at: the AMQP timestamp.
        received_at: when the worker took it.
        redelivered: the broker has delivered it before.
        queue: where it was taken from.
        names: whom the body named when it came, as they may be stored; None: the body itself tells.
    """

    body: bytes
    body_bytes: int
    content_type: str | None = None
    content_encoding: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    message_id: str | None = None
    message_key: str
    published_at: datetime | None = None
    received_at: datetime
    redelivered: bool = False
    queue: str = "ragsonde.traces"
    names: BodyNames | None = None
