"""What a delivery holds once its bytes are read, before anything is extracted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.errors import DecodeError
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
    """The spans of one record: one root turn of a trace, with everything below it that is known.

    Attributes:
        format: name of the format they came in.
        root: the root, or the span that stands in for one that never came.
        spans: by start time, the root among them; span ids are unique.
        record_key: which root turn of the trace this is: '' for the first (usually the only) one, else the
            root's span id.
    """

    format: str
    root: Span
    spans: tuple[Span, ...]
    record_key: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDocument:
    """One record as another tool writes it in JSON: a scorer run, a run tree, a response.

    Attributes:
        format: names the format, and so the rules that read it.
        document: the object as it came, texts mended.
    """

    format: str
    document: dict[str, Any]
    warnings: tuple[str, ...] = ()


Record = DecodedMessage | WholeTrace | ForeignDocument
"""What is evaluated, before its fields are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What one delivery held: whole records, and spans of any traces in any order.

    Attributes:
        format: name of the format of the delivery; `mixed` where an array mixes formats.
        records: each is whole: nothing more is waited for.
        spans: fragments, to be assembled.
        faults: parts that could not be read beside others that could; the message is parked for the first of
            them after the rest was worked on.
        warnings: what was mended in the spans; a record carries its own.
    """

    format: str
    records: tuple[Record, ...] = ()
    spans: tuple[Span, ...] = ()
    faults: tuple[DecodeError, ...] = ()
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
