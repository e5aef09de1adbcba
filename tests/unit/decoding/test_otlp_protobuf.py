import base64
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from builders.envelopes import find_refusal, wrap
from builders.spans import TRACE_ID, make_span, write_export, write_request
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.otlp_protobuf import decode_otlp_protobuf
from ragsonde.decoding.protobuf_wire import read_fields, to_signed
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import SpanEvent

LIMITS = DecodingLimits()
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300)
SCALARS = (
    TEXTS
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
ATTRIBUTES = st.dictionaries(
    TEXTS,
    st.recursive(
        SCALARS | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
TIMES = st.integers(0, 2**64 - 1)
SPANS = st.builds(
    lambda span_id, parent, name, kind, times, attributes, event, resource, scope, is_error: make_span(
        span_id,
        parent,
        name=name,
        attributes=attributes,
        events=(SpanEvent(*event),) if event else (),
        resource=resource,
        scope_name=scope[0],
        scope_version=scope[1],
        is_error=is_error,
    )._replace(kind=kind, start_ns=times[0], end_ns=times[1]),
    st.integers(1, 2**64 - 1),
    st.none() | st.integers(1, 2**64 - 1),
    TEXTS,
    st.integers(0, 5),
    st.tuples(TIMES, TIMES),
    ATTRIBUTES,
    st.none() | st.tuples(TEXTS, TIMES, ATTRIBUTES),
    ATTRIBUTES,
    st.tuples(TEXTS, TEXTS),
    st.booleans(),
)


def refuse(body):
    with pytest.raises(DecodeError) as caught:
        decode_otlp_protobuf(body, LIMITS)
    return caught.value


@given(st.lists(SPANS, min_size=1, max_size=3))
def test_what_the_official_classes_write_is_read_back(spans):
    decoded = decode_otlp_protobuf(write_export(*spans), LIMITS)
    assert tuple(spans) == decoded.spans
    assert decoded.warnings == ()


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body):
    for candidate in (body, b"\x0a" + body):
        refusal = find_refusal(decode_otlp_protobuf, candidate, LIMITS)
        assert refusal is None or refusal.reason in {
            ParkReason.INVALID_PROTOBUF,
            ParkReason.UNKNOWN_FORMAT,
            ParkReason.INVALID_MESSAGE,
        }


@given(st.data())
def test_a_damaged_export_is_read_or_refused(data):
    body = bytearray(write_export(make_span(1, attributes={"a": ["x", 1, {"b": 2.5}]}, resource={"r": True})))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    del body[data.draw(st.integers(1, len(body))) :]
    refusal = find_refusal(decode_otlp_protobuf, bytes(body), LIMITS)
    assert refusal is None or str(refusal)


def test_a_truncated_export_is_refused_with_the_offset():
    error = refuse(write_export(make_span(1))[:-3])
    assert error.reason is ParkReason.INVALID_PROTOBUF
    assert "3 bytes beyond its message" in str(error)


def test_the_resource_is_read_wherever_it_stands():
    (resource_spans,) = write_request(make_span(1, resource={"service.name": "shop"})).resource_spans
    spans_first = resource_spans.scope_spans[0].SerializeToString()
    resource = resource_spans.resource.SerializeToString()
    inner = b"\x12" + bytes([len(spans_first)]) + spans_first + b"\x0a" + bytes([len(resource)]) + resource
    body = b"\x0a" + bytes([len(inner) & 0x7F | 0x80, len(inner) >> 7]) + inner
    (span,) = decode_otlp_protobuf(body, LIMITS).spans
    assert span.resource == {"service.name": "shop"}


def test_a_parent_of_zeros_is_none():
    request = write_request(make_span(1))
    request.resource_spans[0].scope_spans[0].spans[0].parent_span_id = bytes(8)
    (span,) = decode_otlp_protobuf(request.SerializeToString(), LIMITS).spans
    assert span.parent_span_id is None


def test_bytes_and_numbers_that_are_not_finite_become_text():
    span = make_span(1, attributes={"raw": b"\x00\xff", "nan": math.nan, "inf": -math.inf})
    (read,) = decode_otlp_protobuf(write_export(span), LIMITS).spans
    assert read.attributes == {"raw": base64.b64encode(b"\x00\xff").decode(), "nan": "nan", "inf": "-inf"}


def test_texts_that_cannot_be_stored_are_mended_with_a_warning():
    body = write_export(make_span(1, attributes={"input.value": "a\0bXXXX"})).replace(b"XXXX", b"\xffY\xc3(")
    decoded = decode_otlp_protobuf(body, LIMITS)
    assert decoded.spans[0].attributes == {
        "input.value": "a\ufffdb\ufffdY\ufffd(",
        "ragsonde.warnings": [
            "spans[0]: bytes that are no UTF-8 replaced by U+FFFD",
            "spans[0]: NUL replaced by U+FFFD",
        ],
    }


def test_a_logs_export_is_told_from_traces():
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add()
    record.time_unix_nano = 1_795_990_275_000_000_000
    record.severity_text = "INFO"
    record.body.string_value = "hello"
    record.trace_id = bytes.fromhex(TRACE_ID)
    record.span_id = b"\1" * 8
    error = refuse(request.SerializeToString())
    assert error.reason is ParkReason.UNKNOWN_FORMAT
    assert "no spans but OTLP logs" in str(error)


def test_a_metrics_export_is_told_from_traces():
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.name = "requests"
    metric.sum.data_points.add().as_int = 3
    error = refuse(request.SerializeToString())
    assert error.reason is ParkReason.UNKNOWN_FORMAT
    assert "no spans but OTLP metrics" in str(error)


def test_a_metric_whose_texts_are_as_long_as_ids_is_no_span():
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.name = "http.server.reqs"
    metric.description = "requests"
    metric.sum.data_points.add().as_int = 3
    assert refuse(request.SerializeToString()).reason is ParkReason.UNKNOWN_FORMAT


def export_with(values):
    """Two spans, the second one with other ids."""
    request = write_request(make_span(1), make_span(2, 1))
    for field, value in values.items():
        setattr(request.resource_spans[1].scope_spans[0].spans[0], field, value)
    return request


REASONS = {
    "trace_id": ParkReason.BAD_TRACE_ID,
    "span_id": ParkReason.INVALID_MESSAGE,
    "parent_span_id": ParkReason.INVALID_MESSAGE,
}


@pytest.mark.parametrize("field", REASONS)
@pytest.mark.parametrize("value", [b"", b"\1" * 15, b"\1" * 17, bytes(16), bytes(8)])
def test_a_span_with_ids_of_another_length_or_of_zeros_is_a_fault_beside_the_others(field, value):
    request = export_with({field: value})
    decoded = decode_otlp_protobuf(request.SerializeToString(), LIMITS)
    if field == "parent_span_id" and not any(value):
        assert (len(decoded.spans), decoded.faults) == (2, ())
        return
    assert [make_span(1)] == list(decoded.spans)
    (fault,) = decoded.faults
    assert REASONS[field] is fault.reason
    assert f"spans[1].{field}" == fault.where
    assert "expected" in str(fault)


@pytest.mark.parametrize(("field", "reason"), REASONS.items())
def test_an_export_of_bad_spans_only_is_refused_with_the_first_fault(field, reason):
    request = export_with({field: b"\1" * 5})
    del request.resource_spans[0]
    error = refuse(request.SerializeToString())
    assert reason is error.reason
    assert f"spans[0].{field}" == error.where


def test_bad_spans_count_towards_the_limit():
    request = export_with({"trace_id": b""})
    with pytest.raises(DecodeError, match="more than 1 spans"):
        decode_otlp_protobuf(request.SerializeToString(), DecodingLimits(spans=1))


def test_an_export_without_spans_is_refused():
    request = write_request(make_span(1))
    del request.resource_spans[0].scope_spans[:]
    assert refuse(request.SerializeToString()).reason is ParkReason.INVALID_MESSAGE


def test_the_sampling_probability_of_the_tracestate_is_an_attribute():
    request = write_request(make_span(1), make_span(2))
    request.resource_spans[0].scope_spans[0].spans[0].trace_state = "a=1,ot=th:c"
    sampled, other = decode_otlp_protobuf(request.SerializeToString(), LIMITS).spans
    assert sampled.attributes == {"ragsonde.sampling_probability": 0.25}
    assert other.attributes == {}


def test_spans_before_1970_and_beyond_any_calendar_are_read():
    request = write_request(make_span(1), make_span(2))
    request.resource_spans[0].scope_spans[0].spans[0].ClearField("start_time_unix_nano")
    request.resource_spans[1].scope_spans[0].spans[0].end_time_unix_nano = 2**64 - 1
    first, second = decode_otlp_protobuf(request.SerializeToString(), LIMITS).spans
    assert (first.start_ns, second.end_ns) == (0, 2**64 - 1)


def test_too_many_spans_are_refused():
    body = write_export(*(make_span(number) for number in range(1, 5)))
    with pytest.raises(DecodeError, match="more than 3 spans") as caught:
        decode_otlp_protobuf(body, DecodingLimits(spans=3))
    assert caught.value.reason is ParkReason.OVER_LIMIT


def test_an_attribute_nested_too_deep_is_left_out_with_a_warning():
    limits = DecodingLimits(nesting_levels=3)
    deep = {"a": [[{"b": 1}]], "c": [[{"b": [1]}]], "d": 1}
    decoded = decode_otlp_protobuf(write_export(make_span(1, attributes=deep), make_span(2)), limits)
    first, second = decoded.spans
    assert first.attributes.pop("ragsonde.warnings") == [
        "spans[0]: attribute c: nested deeper than 3 levels; skipped"
    ]
    assert first.attributes == {"a": [[{"b": 1}]], "d": 1}
    assert (second, decoded.faults) == (make_span(2), ())


def find_field(body, text):
    """Offset of the length byte before `text`."""
    return body.index(text) - 1


def test_a_broken_attribute_is_left_out_with_a_warning():
    body = bytearray(write_export(make_span(1, attributes={"k": "value", "d": 1}), make_span(2)))
    body[find_field(body, b"value")] = 99
    first, second = decode_otlp_protobuf(bytes(body), LIMITS).spans
    (warning,) = first.attributes.pop("ragsonde.warnings")
    assert warning.startswith("spans[0]: attribute k: a field reaches ")
    assert (first.attributes, second) == ({"d": 1}, make_span(2))


@pytest.mark.parametrize(("text", "place"), [(b"broken name", "spans[0]"), (b"broken scope", "scope_spans")])
def test_a_broken_part_is_a_fault_beside_the_good_spans(text, place):
    body = bytearray(write_export(make_span(1, name="broken name", scope_name="broken scope"), make_span(2)))
    body[find_field(body, text)] = 127
    decoded = decode_otlp_protobuf(bytes(body), LIMITS)
    assert decoded.spans == (make_span(2),)
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [(ParkReason.INVALID_PROTOBUF, place)]


@pytest.mark.parametrize("index", ["10002", "999999999", "9" * 400])
@pytest.mark.parametrize(
    "key",
    [
        "retrieval.documents.{}.document.content",
        "reranker.output_documents.{}.document.id",
        "llm.input_messages.{}.message.role",
        "llm.output_messages.0.message.contents.{}.message_content.text",
        "gen_ai.prompt.{}.content",
        "gen_ai.completion.{}.content",
    ],
)
def test_an_attribute_with_a_huge_index_is_left_out_with_a_warning(key, index):
    span = make_span(1, attributes={key.format(index): "x", key.format(10001): "y"})
    first, second = decode_otlp_protobuf(write_export(span, make_span(2)), LIMITS).spans
    (warning,) = first.attributes.pop("ragsonde.warnings")
    assert warning.startswith(f"span {first.span_id}: ")
    assert "expected at most" in warning
    assert (first.attributes, second) == ({key.format(10001): "y"}, make_span(2))


@pytest.mark.parametrize(
    "key",
    [
        "retrieval.documents.10001.document.content",
        "order.999999999.sku",
        "x.20261129",
        "my.messages.99999",
        "my.retrieval.documents.99999.document.id",
        "llm.tools.20261129.tool.json_schema",
    ],
)
def test_other_numbers_in_attribute_names_are_no_indices(key):
    span = make_span(1, attributes={key: "x"})
    assert decode_otlp_protobuf(write_export(span), LIMITS).spans == (span,)


def test_a_body_whose_first_length_looks_like_json_is_protobuf():
    bodies = [write_export(make_span(1, name="n" * size)) for size in range(60)]
    (body,) = (body for body in bodies if body[1:2] == b"{")
    assert decode(wrap(body)).format == "otlp_protobuf"


@pytest.mark.parametrize(
    ("raw", "value"), [(2**64 - 1, -1), (2**63, -(2**63)), (2**63 - 1, 2**63 - 1), (0, 0)]
)
def test_varints_are_read_as_signed_integers(raw, value):
    assert value == to_signed(raw)


@pytest.mark.parametrize(
    "body",
    [
        b"\x0a",
        b"\x0a\x05abc",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x0b",
        b"\x0e",
        b"\x02\x00",
        b"\x80",
        b"\x08",
        b"\x09\x00",
    ],
)
def test_bytes_that_are_no_message_are_refused(body):
    with pytest.raises(DecodeError) as caught:
        read_fields(body, 0, len(body))
    assert caught.value.reason is ParkReason.INVALID_PROTOBUF
    assert "at byte" in str(caught.value)
