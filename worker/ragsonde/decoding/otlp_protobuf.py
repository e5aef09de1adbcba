"""OTLP traces in protobuf: `ExportTraceServiceRequest`, which is `TracesData` on the wire.

Fields by opentelemetry-proto's trace/v1/trace.proto and resource/v1/resource.proto. Read directly: generated
classes and a conversion to dicts cost forty times as much.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.protobuf_attributes import AttributeReader
from ragsonde.decoding.protobuf_wire import read_fields
from ragsonde.decoding.span_limits import check_indices, check_span_count
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.decoding.protobuf_wire import WireField

FORMAT = "otlp_protobuf"
FIRST_BYTE = 0x0A
"""Key of `resource_spans`, field 1: every export starts with it."""

_RESOURCE_SPANS = FIRST_BYTE
_RESOURCE, _RESOURCE_ATTRIBUTES, _SCOPE_SPANS = 0x0A, 0x0A, 0x12
_SCOPE, _SCOPE_NAME, _SCOPE_VERSION, _SPANS = 0x0A, 0x0A, 0x12, 0x12
_TRACE_ID, _SPAN_ID, _PARENT_SPAN_ID, _NAME, _KIND = 0x0A, 0x12, 0x22, 0x2A, 0x30
_START, _END, _ATTRIBUTES, _EVENTS, _STATUS = 0x39, 0x41, 0x4A, 0x5A, 0x7A
_EVENT_TIME, _EVENT_NAME, _EVENT_ATTRIBUTES = 0x09, 0x12, 0x1A
_STATUS_IS_ERROR = (0x18, 2, 0)
_NOWHERE = (0, 0)
_unpack_fixed64 = struct.Struct("<Q").unpack_from


class _Export:
    """One export being read."""

    def __init__(self, body: bytes, limits: DecodingLimits) -> None:
        self.spans: list[Span] = []
        self.attributes = AttributeReader(body, limits)
        self._body = body
        self._limits = limits

    def read(self) -> None:
        for key, start, end in read_fields(self._body, 0, len(self._body)):
            if key == _RESOURCE_SPANS:
                self._read_resource_spans(read_fields(self._body, start, end))

    def _read_resource_spans(self, fields: list[WireField]) -> None:
        self.attributes.place = "resource"
        resource: dict[str, Any] = {}
        for key, start, end in fields:
            if key == _RESOURCE:
                inner = read_fields(self._body, start, end)
                resource = self.attributes.read_all(inner, key=_RESOURCE_ATTRIBUTES)
        for key, start, end in fields:
            if key == _SCOPE_SPANS:
                self._read_scope_spans(read_fields(self._body, start, end), resource)

    def _read_scope_spans(self, fields: list[WireField], resource: dict[str, Any]) -> None:
        scope = ("", "")
        for key, start, end in fields:
            if key == _SCOPE:
                named = {item: (at, stop) for item, at, stop in read_fields(self._body, start, end)}
                name, version = (
                    self.attributes.read_text(*named.get(item, _NOWHERE))
                    for item in (_SCOPE_NAME, _SCOPE_VERSION)
                )
                scope = (name, version)
        for key, start, end in fields:
            if key == _SPANS:
                self.attributes.place = f"spans[{len(self.spans)}]"
                self.spans.append(self._read_span(read_fields(self._body, start, end), resource, scope))
                check_span_count(len(self.spans), limits=self._limits)

    def _read_span(self, fields: list[WireField], resource: dict[str, Any], scope: tuple[str, str]) -> Span:
        single = {key: (at, stop) for key, at, stop in fields}
        trace_id = self._read_id(single.get(_TRACE_ID), field="trace_id", size=16)
        span_id = self._read_id(single.get(_SPAN_ID), field="span_id", size=8)
        parent = slice(*single.get(_PARENT_SPAN_ID, _NOWHERE))
        parent_span_id = (
            self._read_id((parent.start, parent.stop), field="parent_span_id", size=8)
            if any(self._body[parent])
            else None
        )
        return Span(
            trace_id,
            span_id,
            parent_span_id,
            self.attributes.read_text(*single.get(_NAME, _NOWHERE)),
            single.get(_KIND, _NOWHERE)[0],
            self._read_time(single.get(_START)),
            self._read_time(single.get(_END)),
            self.attributes.read_all(fields, key=_ATTRIBUTES),
            tuple(
                self._read_event(read_fields(self._body, at, stop))
                for key, at, stop in fields
                if key == _EVENTS
            ),
            resource,
            *scope,
            _STATUS_IS_ERROR in read_fields(self._body, *single.get(_STATUS, _NOWHERE)),
        )

    def _read_id(self, place: tuple[int, int] | None, *, field: str, size: int) -> str:
        """Hex of an id; its size tells spans from log records and metrics, whose fields share numbers."""
        raw = self._body[slice(*place)] if place else b""
        if len(raw) == size and any(raw):
            return raw.hex()
        found = "zeros only" if len(raw) == size else f"{len(raw)} bytes"
        raise DecodeError(
            ParkReason.UNKNOWN_FORMAT,
            f"found {found}, expected {size} bytes that are not all zero: these are no spans (OTLP logs or "
            "metrics?); only traces are read",
            where=f"{self.attributes.place}.{field}",
        )

    def _read_time(self, place: tuple[int, int] | None) -> int:
        nanoseconds: int = _unpack_fixed64(self._body, place[0])[0] if place else 0
        return nanoseconds

    def _read_event(self, fields: list[WireField]) -> SpanEvent:
        single = {key: (at, stop) for key, at, stop in fields}
        return SpanEvent(
            self.attributes.read_text(*single.get(_EVENT_NAME, _NOWHERE)),
            self._read_time(single.get(_EVENT_TIME)),
            self.attributes.read_all(fields, key=_EVENT_ATTRIBUTES),
        )


def decode_otlp_protobuf(body: bytes, limits: DecodingLimits) -> Decoded:
    """The spans of one export, of any traces, in the order they came in.

    Raises:
        DecodeError: INVALID_PROTOBUF where the bytes are no such message, UNKNOWN_FORMAT where they are
            another signal's export, INVALID_MESSAGE where there is no span, OVER_LIMIT.
    """
    export = _Export(body, limits)
    export.read()
    if not export.spans:
        raise DecodeError(
            ParkReason.INVALID_MESSAGE, "found no span, expected at least one", where="resource_spans"
        )
    check_indices(export.spans, limits=limits)
    return Decoded(format=FORMAT, spans=tuple(export.spans), warnings=tuple(export.attributes.warnings))
