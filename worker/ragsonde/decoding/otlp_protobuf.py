"""OTLP traces in protobuf: `ExportTraceServiceRequest`, which is `TracesData` on the wire.

Fields by opentelemetry-proto's trace/v1/trace.proto and resource/v1/resource.proto. Read directly: generated
classes and a conversion to dicts cost forty times as much.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.protobuf_attributes import AttributeReader
from ragsonde.decoding.protobuf_wire import read_fields
from ragsonde.decoding.sniffing import PROTOBUF_FIRST_BYTE
from ragsonde.decoding.span_limits import check_any_span, check_span_count, drop_high_indices
from ragsonde.decoding.tracestate import find_sampling_probability
from ragsonde.decoding.wording import move_error
from ragsonde.extraction.span_facts import SAMPLING_PROBABILITY
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.decoding.protobuf_wire import WireField

FORMAT = "otlp_protobuf"
_RESOURCE_SPANS = PROTOBUF_FIRST_BYTE
_RESOURCE, _RESOURCE_ATTRIBUTES, _SCOPE_SPANS = 0x0A, 0x0A, 0x12
_SCOPE, _SCOPE_NAME, _SCOPE_VERSION, _SPANS = 0x0A, 0x0A, 0x12, 0x12
_TRACE_ID, _SPAN_ID, _TRACE_STATE, _PARENT_SPAN_ID, _NAME, _KIND = 0x0A, 0x12, 0x1A, 0x22, 0x2A, 0x30
_START, _END, _ATTRIBUTES, _EVENTS, _STATUS = 0x39, 0x41, 0x4A, 0x5A, 0x7A
_EVENT_TIME, _EVENT_NAME, _EVENT_ATTRIBUTES = 0x09, 0x12, 0x1A
_STATUS_IS_ERROR = (0x18, 2, 0)
_IDS = (_TRACE_ID, _SPAN_ID, _PARENT_SPAN_ID)
_TRACE_ID_BYTES, _SPAN_ID_BYTES = 16, 8
_LOG_TIMES = frozenset({0x09, 0x59})
"""Keys of a log record's two times: fixed 64-bit numbers where a span has none."""

_NOWHERE = (0, 0)
_unpack_fixed64 = struct.Struct("<Q").unpack_from


class _Export:
    """One export being read.

    Attributes:
        faults: spans whose ids are none, and what of the message cannot be read at all.
        other_signal: the error to raise where all of them are none: log records and metrics have other fields
            under a span's numbers.
    """

    def __init__(self, body: bytes, limits: DecodingLimits) -> None:
        self.spans: list[Span] = []
        self.faults: list[DecodeError] = []
        self.other_signal: DecodeError | None = None
        self.attributes = AttributeReader(body, limits)
        self._body = body
        self._limits = limits

    def read(self) -> None:
        for key, start, end in read_fields(self._body, 0, len(self._body)):
            if key == _RESOURCE_SPANS:
                try:
                    self._read_resource_spans(read_fields(self._body, start, end))
                except DecodeError as error:
                    self._note(error, "resource_spans")

    def _note(self, error: DecodeError, place: str) -> None:
        """Makes what cannot be read a fault beside the others."""
        if error.reason is ParkReason.OVER_LIMIT:
            raise error
        self.faults.append(move_error(error, where=place))

    def _read_resource_spans(self, fields: list[WireField]) -> None:
        self.attributes.place = "resource"
        resource: dict[str, Any] = {}
        for key, start, end in fields:
            if key == _RESOURCE:
                inner = read_fields(self._body, start, end)
                resource = self.attributes.read_all(inner, key=_RESOURCE_ATTRIBUTES)
        for key, start, end in fields:
            if key == _SCOPE_SPANS:
                try:
                    self._read_scope_spans(read_fields(self._body, start, end), resource)
                except DecodeError as error:
                    self._note(error, "scope_spans")

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
                number = len(self.spans) + len(self.faults)
                check_span_count(number + 1, limits=self._limits)
                self.attributes.place = f"spans[{number}]"
                try:
                    self._add_span(read_fields(self._body, start, end), resource, scope)
                except DecodeError as error:
                    self._note(error, self.attributes.place)

    def _add_span(self, fields: list[WireField], resource: dict[str, Any], scope: tuple[str, str]) -> None:
        single = {key: (at, stop) for key, at, stop in fields}
        ids = self._read_ids(single)
        if ids is None:
            return
        name = self.attributes.read_text(*single.get(_NAME, _NOWHERE))
        state = self.attributes.read_text(*single.get(_TRACE_STATE, _NOWHERE))
        attributes = self.attributes.read_all(fields, key=_ATTRIBUTES)
        probability = find_sampling_probability(state)
        if probability is not None:
            attributes[SAMPLING_PROBABILITY] = probability
        self.spans.append(
            Span(
                *ids,
                name,
                single.get(_KIND, _NOWHERE)[0],
                self._read_time(single.get(_START)),
                self._read_time(single.get(_END)),
                attributes,
                tuple(
                    self._read_event(read_fields(self._body, at, stop))
                    for key, at, stop in fields
                    if key == _EVENTS
                ),
                resource,
                *scope,
                _STATUS_IS_ERROR in read_fields(self._body, *single.get(_STATUS, _NOWHERE)),
            )
        )

    def _read_ids(self, single: dict[int, tuple[int, int]]) -> tuple[str, str, str | None] | None:
        """Hex of a span's ids, its parent's last; None where they are none: a fault beside the others."""
        body = self._body
        trace_id, span_id, parent = (body[slice(*single.get(key, _NOWHERE))] for key in _IDS)
        has_parent = any(parent)
        if len(trace_id) != _TRACE_ID_BYTES or not any(trace_id):
            wrong = ("trace_id", trace_id, _TRACE_ID_BYTES)
        elif len(span_id) != _SPAN_ID_BYTES or not any(span_id):
            wrong = ("span_id", span_id, _SPAN_ID_BYTES)
        elif has_parent and len(parent) != _SPAN_ID_BYTES:
            wrong = ("parent_span_id", parent, _SPAN_ID_BYTES)
        elif _START not in single and _is_text(trace_id) and _is_text(span_id):
            # the name and description of a metric, which happen to be as long as ids
            wrong = ("trace_id", trace_id, _TRACE_ID_BYTES)
        else:
            return trace_id.hex(), span_id.hex(), parent.hex() if has_parent else None
        self._refuse(*wrong, single)
        return None

    def _refuse(self, name: str, raw: bytes, size: int, single: dict[int, tuple[int, int]]) -> None:
        """Notes what is wrong with an id, and which signal it is of where a span's start time is missing."""
        reason = ParkReason.BAD_TRACE_ID if name == "trace_id" else ParkReason.INVALID_MESSAGE
        found = "zeros only" if len(raw) == size and not any(raw) else f"{len(raw)} bytes"
        message = f"found {found}, expected {size} bytes of an id that are not all zero"
        where = f"{self.attributes.place}.{name}"
        self.faults.append(DecodeError(reason, message, where=where))
        if _START not in single and self.other_signal is None:
            signal = "OTLP logs" if not _LOG_TIMES.isdisjoint(single) else "OTLP metrics or no OTLP at all"
            message = f"{message}: these are no spans but {signal}; only traces are read"
            self.other_signal = DecodeError(ParkReason.UNKNOWN_FORMAT, message, where=where)

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


def _is_text(raw: bytes) -> bool:
    return raw.isascii() and raw.decode("ascii").isprintable()


def decode_otlp_protobuf(body: bytes, limits: DecodingLimits) -> Decoded:
    """The spans of one export, of any traces, in the order they came in; what cannot be read as faults.

    Raises:
        DecodeError: INVALID_PROTOBUF where the bytes are no such message, UNKNOWN_FORMAT where they are
            another signal's export, BAD_TRACE_ID or INVALID_MESSAGE where there is no good span, OVER_LIMIT.
    """
    export = _Export(body, limits)
    export.read()
    faults = [export.other_signal] if export.other_signal is not None else export.faults
    check_any_span(export.spans, faults, where="resource_spans")
    return Decoded(
        format=FORMAT,
        spans=drop_high_indices(export.spans, limits=limits),
        faults=tuple(export.faults),
    )
