"""OTLP traces in JSON: `resourceSpans[].scopeSpans[].spans[]`.

By the OTLP specification keys are camelCase, ids hex and 64-bit integers strings; exporters that print
protobuf as JSON write snake_case, base64 and numbers, and JavaScript's buffers and longs: all are read. So
are attributes given as a plain object, `instrumentationLibrarySpans` from before `scopeSpans`, and an item
of `resourceSpans` by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.identifiers import SPAN_ID_BYTES, read_id, read_parent, read_trace_id
from ragsonde.decoding.json_attributes import JsonAttributeReader
from ragsonde.decoding.json_fields import (
    find_key,
    read_integer,
    read_object,
    take_object,
    take_objects,
    take_text,
    take_time,
)
from ragsonde.decoding.span_limits import check_any_span, check_span_count, drop_high_indices
from ragsonde.decoding.tracestate import find_sampling_probability
from ragsonde.extraction.span_facts import SAMPLING_PROBABILITY
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits

    _Read = Callable[[dict[str, Any], Place], None]

FORMAT = "otlp_json"
_EXPORT = ("resourceSpans", "resource_spans")
_RESOURCE_SPANS = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
)
_KINDS = {
    "SPAN_KIND_UNSPECIFIED": 0,
    "SPAN_KIND_INTERNAL": 1,
    "SPAN_KIND_SERVER": 2,
    "SPAN_KIND_CLIENT": 3,
    "SPAN_KIND_PRODUCER": 4,
    "SPAN_KIND_CONSUMER": 5,
}
_ERRORS = frozenset({2, "2", "STATUS_CODE_ERROR"})


def is_otlp_json(value: object) -> bool:
    """True for an export, an object that holds `resourceSpans`, and for one item of it."""
    return isinstance(value, dict) and any(key in value for key in (*_EXPORT, *_RESOURCE_SPANS))


def decode_otlp_json(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """The spans of one export, of any traces, in the order they came in; those that cannot be read as faults.

    Raises:
        DecodeError: the first fault, where there is no good span: INVALID_MESSAGE that names path, found and
            expected, or BAD_TRACE_ID. OVER_LIMIT.
    """
    export = _Export(limits, is_damaged=document.refusal is not None)
    value = read_object(document.value, ())
    if any(key in value for key in _EXPORT):
        export.read_all(value, "resourceSpans", (), export.read_resource_spans)
    else:
        export.read_resource_spans(value, ())
    faults = [document.refusal] if document.refusal is not None else export.faults
    check_any_span(export.spans, faults, where=find_key(value, "resourceSpans"))
    return Decoded(
        format=FORMAT,
        spans=drop_high_indices(export.spans, limits=limits),
        faults=tuple(export.faults),
        warnings=describe_mending(document.mended),
    )


class _Export:
    """One export being read."""

    def __init__(self, limits: DecodingLimits, *, is_damaged: bool) -> None:
        self.spans: list[Span] = []
        self.faults: list[DecodeError] = []
        self.attributes = JsonAttributeReader(is_damaged=is_damaged)
        self._limits = limits
        self._resource: dict[str, Any] = {}
        self._scope = ("", "")

    def read_all(self, fields: dict[str, Any], name: str, place: Place, read: _Read) -> None:
        """Reads each object of a list; one that cannot be read becomes a fault beside the others."""
        for item_place, item in take_objects(fields, name, place):
            try:
                read(read_object(item, item_place), item_place)
            except DecodeError as error:
                if error.reason is ParkReason.OVER_LIMIT:
                    raise
                self.faults.append(error)

    def read_resource_spans(self, resource_spans: dict[str, Any], place: Place) -> None:
        """Reads the spans of one resource."""
        resource = take_object(resource_spans, "resource", place)
        self._resource = self.attributes.take(resource, (*place, "resource"))
        for name in ("scopeSpans", "instrumentationLibrarySpans"):
            self.read_all(resource_spans, name, place, self._read_scope_spans)

    def _read_scope_spans(self, scope_spans: dict[str, Any], place: Place) -> None:
        name = "scope" if "scope" in scope_spans else find_key(scope_spans, "instrumentationLibrary")
        scope = take_object(scope_spans, name, place)
        scope_place = (*place, name)
        self._scope = (take_text(scope, "name", scope_place), take_text(scope, "version", scope_place))
        self.read_all(scope_spans, "spans", place, self._read_span)

    def _read_span(self, span: dict[str, Any], place: Place) -> None:
        check_span_count(len(self.spans) + len(self.faults) + 1, limits=self._limits)
        trace_key, span_key, parent_key = (
            find_key(span, name) for name in ("traceId", "spanId", "parentSpanId")
        )
        attributes = self.attributes.take(span, place)
        probability = find_sampling_probability(take_text(span, "traceState", place))
        if probability is not None:
            attributes[SAMPLING_PROBABILITY] = probability
        code = take_object(span, "status", place).get("code")
        self.spans.append(
            Span(
                trace_id=read_trace_id(span.get(trace_key), (*place, trace_key)),
                span_id=read_id(span.get(span_key), (*place, span_key), byte_count=SPAN_ID_BYTES),
                parent_span_id=read_parent(span.get(parent_key), (*place, parent_key)),
                name=take_text(span, "name", place),
                kind=_read_kind(span.get("kind"), (*place, "kind")),
                start_ns=take_time(span, "startTimeUnixNano", place),
                end_ns=take_time(span, "endTimeUnixNano", place),
                attributes=attributes,
                events=tuple(
                    self._read_event(read_object(event, event_place), event_place)
                    for event_place, event in take_objects(span, "events", place)
                ),
                resource=self._resource,
                scope_name=self._scope[0],
                scope_version=self._scope[1],
                is_error=isinstance(code, int | str) and code in _ERRORS,
            )
        )

    def _read_event(self, event: dict[str, Any], place: Place) -> SpanEvent:
        return SpanEvent(
            take_text(event, "name", place),
            take_time(event, "timeUnixNano", place),
            self.attributes.take(event, place),
        )


def _read_kind(value: object, place: Place) -> int:
    if isinstance(value, str) and value in _KINDS:
        return _KINDS[value]
    return read_integer(value, place)
