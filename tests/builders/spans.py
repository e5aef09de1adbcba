"""Spans, and OTLP exports of them written by the official protobuf classes."""

from __future__ import annotations

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from ragsonde_schemas.decoded import WholeTrace
from ragsonde_schemas.span import Span

TRACE_ID = "6ff2cb8a7635c0ce43f51f8457f147df"
START_NS = 1_795_990_275_000_000_000


def make_span(span_id: int, parent: int | None = None, *, kind=None, start=None, end=None, **fields) -> Span:
    """A span numbered `span_id`; `kind` is OpenInference's, `start` and `end` milliseconds."""
    attributes = dict(fields.pop("attributes", {}))
    if kind is not None:
        attributes["openinference.span.kind"] = kind
    start = span_id if start is None else start
    end = start + 1 if end is None else end
    values = {
        "trace_id": TRACE_ID,
        "name": f"span {span_id}",
        "kind": 1,
        "events": (),
        "resource": {},
        "scope_name": "",
        "scope_version": "",
        "is_error": False,
        **fields,
    }
    return Span(
        span_id=f"{span_id:016x}",
        parent_span_id=None if parent is None else f"{parent:016x}",
        attributes=attributes,
        start_ns=START_NS + start * 1_000_000,
        end_ns=START_NS + end * 1_000_000,
        **values,
    )


def make_whole(*spans: Span) -> WholeTrace:
    """A whole trace; the first span is its root."""
    return WholeTrace(format="otlp_protobuf", root=spans[0], spans=spans)


_WRITERS = {
    type(None): lambda _: AnyValue(),
    bool: lambda value: AnyValue(bool_value=value),
    int: lambda value: AnyValue(int_value=value),
    float: lambda value: AnyValue(double_value=value),
    str: lambda value: AnyValue(string_value=value),
    bytes: lambda value: AnyValue(bytes_value=value),
    list: lambda value: AnyValue(array_value=ArrayValue(values=[write_value(item) for item in value])),
    dict: lambda value: AnyValue(kvlist_value=KeyValueList(values=write_attributes(value))),
}


def write_value(value) -> AnyValue:
    """A plain value as AnyValue."""
    return _WRITERS[type(value)](value)


def write_attributes(attributes) -> list[KeyValue]:
    """Plain attributes as KeyValues."""
    return [KeyValue(key=key, value=write_value(value)) for key, value in attributes.items()]


def write_span(span: Span) -> WireSpan:
    """A span as its protobuf class."""
    written = WireSpan(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id or ""),
        name=span.name,
        kind=span.kind,
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        attributes=write_attributes(span.attributes),
        events=[
            WireSpan.Event(
                name=event.name,
                time_unix_nano=event.time_ns,
                attributes=write_attributes(event.attributes),
            )
            for event in span.events
        ],
        trace_state="a=1",
        flags=256,
        links=[WireSpan.Link(trace_id=b"\1" * 16, span_id=b"\2" * 8)],
    )
    if span.is_error:
        written.status.code = 2
        written.status.message = "boom"
    return written


def write_request(*spans: Span) -> ExportTraceServiceRequest:
    """One export; every span in a resource and scope of its own."""
    request = ExportTraceServiceRequest()
    for span in spans:
        resource_spans = ResourceSpans()
        resource_spans.resource.attributes.extend(write_attributes(span.resource))
        scope_spans = ScopeSpans(spans=[write_span(span)])
        scope_spans.scope.name = span.scope_name
        scope_spans.scope.version = span.scope_version
        resource_spans.scope_spans.append(scope_spans)
        request.resource_spans.append(resource_spans)
    return request


def write_export(*spans: Span) -> bytes:
    """One export in protobuf."""
    return write_request(*spans).SerializeToString()
