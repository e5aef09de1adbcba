"""A fragment of a trace, as OpenTelemetry defines it."""

from __future__ import annotations

from typing import Any, NamedTuple


class SpanEvent(NamedTuple):
    """A timed event inside a span; attributes are plain Python values."""

    name: str
    time_ns: int
    attributes: dict[str, Any]


class Span(NamedTuple):
    """One span, ids as lower-case hex, attributes as plain Python values.

    A tuple and not a pydantic model: thousands are made a second, and the decoder has checked every field.

    Attributes:
        trace_id: 32 hex digits.
        span_id: 16 hex digits.
        parent_span_id: 16 hex digits, None for a root.
        kind: OTLP's enum as an integer.
        start_ns, end_ns: nanoseconds since 1970, as the producer's clock had it.
        resource: attributes of the resource that emitted it.
        scope_name, scope_version: the instrumentation library.
        is_error: the span's status code is ERROR.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    events: tuple[SpanEvent, ...]
    resource: dict[str, Any]
    scope_name: str
    scope_version: str
    is_error: bool
