import base64

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap_json
from builders.spans import TRACE_ID, make_span, write_request
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import SpanEvent

SPAN = {
    "traceId": TRACE_ID,
    "spanId": "00000000000000a1",
    "name": "root",
    "kind": 1,
    "startTimeUnixNano": "1795990275604990976",
    "endTimeUnixNano": "1795990275605590016",
}


def export(*spans, resource=None, scope=None):
    scope_spans = {"spans": list(spans)}
    if scope is not None:
        scope_spans["scope"] = scope
    return {"resourceSpans": [{"resource": resource or {}, "scopeSpans": [scope_spans]}]}


def read(**fields):
    (span,) = decode(wrap_json(export({**SPAN, **fields}))).spans
    return span


def refuse(value, reason=ParkReason.INVALID_MESSAGE, limits=None):
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json(value), limits=limits or DecodingLimits())
    assert caught.value.reason is reason
    return caught.value


def test_every_kind_of_value_is_read_as_plain_python():
    values = {
        "s": ({"stringValue": "x"}, "x"),
        "i": ({"intValue": "-9223372036854775808"}, -(2**63)),
        "n": ({"intValue": 5}, 5),
        "d": ({"doubleValue": 0.5}, 0.5),
        "nan": ({"doubleValue": "NaN"}, "NaN"),
        "b": ({"boolValue": False}, False),
        "raw": ({"bytesValue": "AP8="}, "AP8="),
        "list": ({"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": "1"}]}}, ["x", 1]),
        "empty list": ({"arrayValue": {}}, []),
        "map": ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
        "nothing": ({}, None),
        "none": (None, None),
    }
    attributes = [{"key": key, "value": value} for key, (value, _) in values.items()]
    assert {key: plain for key, (_, plain) in values.items()} == read(attributes=attributes).attributes


def test_attributes_may_be_a_plain_object():
    assert read(attributes={"a": {"stringValue": "x"}, "b": 5, "c": True}).attributes == {
        "a": "x",
        "b": 5,
        "c": True,
    }


def test_all_fields_of_a_span_are_read():
    span = {
        **SPAN,
        "parentSpanId": "00000000000000A0",
        "status": {"code": 2, "message": "boom"},
        "events": [
            {"name": "e", "timeUnixNano": "7", "attributes": [{"key": "k", "value": {"stringValue": "v"}}]}
        ],
        "links": [{"traceId": TRACE_ID}],
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    value = export(span, resource=resource, scope={"name": "lib", "version": "1"})
    (read_span,) = decode(wrap_json(value)).spans
    assert read_span.trace_id == TRACE_ID
    assert (read_span.span_id, read_span.parent_span_id) == ("00000000000000a1", "00000000000000a0")
    assert (read_span.start_ns, read_span.end_ns) == (1795990275604990976, 1795990275605590016)
    assert read_span.events == (SpanEvent("e", 7, {"k": "v"}),)
    assert read_span.resource == {"service.name": "shop"}
    assert (read_span.scope_name, read_span.scope_version, read_span.is_error) == ("lib", "1", True)


@pytest.mark.parametrize("parent", [None, "", "0" * 16])
def test_no_parent_is_a_root(parent):
    assert read(parentSpanId=parent).parent_span_id is None


def test_ids_are_hex_in_any_case_or_base64_by_their_length():
    raw_trace, raw_span = bytes.fromhex(TRACE_ID), bytes.fromhex("00000000000000a1")
    for trace_id, span_id in [
        (TRACE_ID.upper(), "00000000000000A1"),
        (base64.b64encode(raw_trace).decode(), base64.b64encode(raw_span).decode()),
    ]:
        span = read(traceId=trace_id, spanId=span_id)
        assert (span.trace_id, span.span_id) == (TRACE_ID, "00000000000000a1")


@pytest.mark.parametrize(("kind", "number"), [("SPAN_KIND_CLIENT", 3), (3, 3), ("3", 3), (None, 0)])
def test_enums_are_numbers_or_names(kind, number):
    assert number == read(kind=kind).kind


@pytest.mark.parametrize(
    ("code", "is_error"), [("STATUS_CODE_ERROR", True), (2, True), (1, False), (None, False)]
)
def test_a_status_is_a_number_or_a_name(code, is_error):
    assert read(status={"code": code}).is_error is is_error


def test_what_protobuf_prints_as_json_is_read_the_same():
    spans = (
        make_span(1, attributes={"a": "x", "n": -5, "d": 0.5, "l": ["y", 1]}, resource={"service.name": "s"}),
        make_span(2, 1, kind="LLM", is_error=True, scope_name="lib", events=(SpanEvent("e", 3, {"k": 1}),)),
    )
    printed = MessageToDict(write_request(*spans))
    assert spans == decode(wrap_json(printed)).spans


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"resourceSpans": {}}, "resourceSpans"),
        ({"resourceSpans": [5]}, "resourceSpans[0]"),
        ({"resourceSpans": [{"scopeSpans": "x"}]}, "resourceSpans[0].scopeSpans"),
        ({"resourceSpans": [{"resource": [1]}]}, "resourceSpans[0].resource"),
        (export(5), "resourceSpans[0].scopeSpans[0].spans[0]"),
        (export({**SPAN, "name": 5}), "resourceSpans[0].scopeSpans[0].spans[0].name"),
        (export({**SPAN, "spanId": "xyz"}), "resourceSpans[0].scopeSpans[0].spans[0].spanId"),
        (
            export({**SPAN, "startTimeUnixNano": "soon"}),
            "resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano",
        ),
        (export({**SPAN, "attributes": "x"}), "resourceSpans[0].scopeSpans[0].spans[0].attributes"),
        (
            export({**SPAN, "attributes": [{"value": 1}]}),
            "resourceSpans[0].scopeSpans[0].spans[0].attributes[0]",
        ),
        (export({**SPAN, "status": 5}), "resourceSpans[0].scopeSpans[0].spans[0].status"),
        (export({**SPAN, "kind": "odd"}), "resourceSpans[0].scopeSpans[0].spans[0].kind"),
        ({"resourceSpans": []}, "resourceSpans"),
    ],
)
def test_a_wrong_shape_names_its_place(value, where):
    error = refuse(value)
    assert where == error.where
    assert "found" in str(error)
    assert "expected" in str(error)


@pytest.mark.parametrize(
    "trace_id", [None, "", "0" * 32, "xyz", 5, "6ff2cb8a7635c0ce43f51f8457f147d", "?" * 24]
)
def test_a_bad_trace_id_is_refused(trace_id):
    error = refuse(export({**SPAN, "traceId": trace_id}), ParkReason.BAD_TRACE_ID)
    assert error.where == "resourceSpans[0].scopeSpans[0].spans[0].traceId"


def test_too_many_spans_and_huge_indices_are_refused():
    refuse(export(SPAN, SPAN, SPAN), ParkReason.OVER_LIMIT, DecodingLimits(spans=2))
    refuse(
        export({**SPAN, "attributes": {"retrieval.documents.99999.document.id": "x"}}), ParkReason.OVER_LIMIT
    )


def test_texts_are_mended_with_a_warning():
    decoded = decode(wrap_json(export({**SPAN, "attributes": {"input.value": "a\0"}})))
    assert decoded.spans[0].attributes == {"input.value": "a\ufffd"}
    assert decoded.warnings[0].startswith(
        "resourceSpans[0].scopeSpans[0].spans[0].attributes.input.value: NUL"
    )


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "resource",
                    "scopeSpans",
                    "scope",
                    "spans",
                    "attributes",
                    "key",
                    "value",
                    "events",
                    "status",
                    "intValue",
                    "arrayValue",
                    "kvlistValue",
                    "values",
                    *SPAN,
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JUNK, st.sampled_from(["resource", "scopeSpans", "spans", "span"]))
def test_any_shape_is_read_or_refused(junk, place):
    value = {
        "resource": {"resourceSpans": [{"resource": junk}]},
        "scopeSpans": {"resourceSpans": [{"scopeSpans": junk}]},
        "spans": {"resourceSpans": [{"scopeSpans": [{"spans": junk}]}]},
        "span": export({**SPAN, **junk} if isinstance(junk, dict) else junk),
    }[place]
    refusal = find_refusal(decode, wrap_json(value))
    assert refusal is None or "found" in str(refusal)
