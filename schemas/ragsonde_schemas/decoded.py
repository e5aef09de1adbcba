"""What a delivery holds once its bytes are read, before anything is extracted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.message import TraceMessage
    from ragsonde_schemas.span import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedMessage:
    """A native message: valid, texts mended.

    Attributes:
        extra: unknown keys by their path (`colour`, `contexts[2].page`), values as they came.
        warnings: what was mended or ignored, each naming its place.
    """

    message: TraceMessage
    extra: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTrace:
    """The spans of one whole trace: its root and its retrieval are among them, no parent is missing.

    Attributes:
        format: name of the format they came in.
        spans: by start time, the root among them; span ids are unique.
    """

    format: str
    root: Span
    spans: tuple[Span, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What one delivery held: native messages, or spans of any traces in any order.

    Attributes:
        format: `native`, `otlp_protobuf` or `otlp_json`.
        warnings: what was mended in the spans; a message carries its own.
    """

    format: str
    messages: tuple[DecodedMessage, ...] = ()
    spans: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """When a delivery came: what is left where the producer's own time cannot be used.

    Attributes:
        received_at: when it was first taken off the queue; aware.
        published_at: the transport's timestamp, None where the publisher set none.
    """

    received_at: datetime
    published_at: datetime | None = None
