import base64
import re

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


def test_too_many_spans_are_refused():
    refuse(export(SPAN, SPAN, SPAN), ParkReason.OVER_LIMIT, DecodingLimits(spans=2))


def test_texts_are_mended_with_a_warning():
    decoded = decode(wrap_json(export({**SPAN, "attributes": {"input.value": "a\0"}})))
    assert decoded.spans[0].attributes == {"input.value": "a\ufffd"}
    assert decoded.warnings[0].startswith(
        "resourceSpans[0].scopeSpans[0].spans[0].attributes.input.value: NUL"
    )


def to_snake(value):
    """A JSON value with all keys in snake_case, as protobuf prints it when asked to keep field names."""
    if isinstance(value, list):
        return [to_snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("(?=[A-Z])", "_", key).lower(): to_snake(item) for key, item in value.items()}


def test_keys_in_snake_case_are_read_the_same():
    spans = (
        make_span(
            1, attributes={"a": "x", "n": 5, "l": ["y"], "m": {"k": 1}}, resource={"service.name": "s"}
        ),
        make_span(2, 1, is_error=True, scope_name="lib", events=(SpanEvent("e", 3, {"k": 1}),)),
    )
    printed = MessageToDict(write_request(*spans), preserving_proto_field_name=True)
    assert "trace_id" in printed["resource_spans"][0]["scope_spans"][0]["spans"][0]
    assert spans == decode(wrap_json(printed)).spans
    assert spans == decode(wrap_json(to_snake(MessageToDict(write_request(*spans))))).spans


def test_spans_of_before_scopes_are_read():
    value = {
        "resourceSpans": [
            {
                "instrumentationLibrarySpans": [
                    {"instrumentationLibrary": {"name": "lib", "version": "2"}, "spans": [SPAN]}
                ]
            }
        ]
    }
    for written in (value, to_snake(value)):
        (span,) = decode(wrap_json(written)).spans
        assert (span.scope_name, span.scope_version, span.name) == ("lib", "2", "root")


def test_an_item_of_resource_spans_by_itself_is_read():
    (item,) = export(SPAN)["resourceSpans"]
    assert decode(wrap_json(export(SPAN))).spans == decode(wrap_json(item)).spans
    assert len(decode(wrap_json([item, item])).spans) == 2


@pytest.mark.parametrize(
    "write",
    [
        lambda raw: {"type": "Buffer", "data": list(raw)},
        lambda raw: {str(index): byte for index, byte in enumerate(raw)},
        list,
    ],
)
def test_ids_as_bytes_of_javascript_are_read(write):
    raw_trace, raw_span = bytes.fromhex(TRACE_ID), bytes.fromhex("00000000000000a1")
    span = read(traceId=write(raw_trace), spanId=write(raw_span), parentSpanId=write(bytes(8)))
    assert (span.trace_id, span.span_id, span.parent_span_id) == (TRACE_ID, "00000000000000a1", None)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ({"low": 1, "high": 0, "unsigned": True}, 1),
        ({"low": -1, "high": 0, "unsigned": True}, 2**32 - 1),
        ({"low": -1, "high": -1, "unsigned": False}, -1),
        ({"low": -1, "high": -1, "unsigned": True}, 2**64 - 1),
        ({"low": 602251264, "high": 418159374, "unsigned": True}, 418159374 * 2**32 + 602251264),
        (1.5e18, 1_500_000_000_000_000_000),
        ("1.5e18", 1_500_000_000_000_000_000),
        ("-5", -5),
        (-5, -5),
        (None, 0),
        (4_102_444_800_000_000_000, 4_102_444_800_000_000_000),
        (10**300, 2**64 - 1),
        (-(10**300), -(2**63)),
        (1e300, 2**64 - 1),
    ],
)
def test_times_are_read_in_every_form_and_held_to_64_bits(written, number):
    assert number == read(startTimeUnixNano=written).start_ns


def test_odd_values_of_attributes_are_read():
    values = {
        "zero": (0, 0),
        "false": (False, False),
        "empty": ("", ""),
        "map where a text is due": ({"stringValue": {"a": [1]}}, {"a": [1]}),
        "nulls beside it": ({"stringValue": None, "intValue": "7", "boolValue": None}, 7),
        "nulls only": ({"stringValue": None, "intValue": None}, None),
        "protobufjs": ({"stringValue": "x", "value": "stringValue"}, "x"),
        "long": ({"intValue": {"low": 5, "high": 0, "unsigned": False}}, 5),
        "indexed list": ({"arrayValue": {"values": {"0": {"intValue": 1}, "1": {"intValue": 2}}}}, [1, 2]),
        "bare list": ({"arrayValue": [{"stringValue": "x"}]}, ["x"]),
        "bare map": ({"kvlistValue": {"k": {"intValue": "1"}}}, {"k": 1}),
        "own object": ({"a": 1, "b": 2}, {"a": 1, "b": 2}),
        "own key": ({"a": {"stringValue": "x"}}, {"a": {"stringValue": "x"}}),
    }
    attributes = {key: value for key, (value, _) in values.items()}
    expected = {key: plain for key, (_, plain) in values.items()}
    assert expected == read(attributes=attributes).attributes
    assert expected == read(attributes=[{"key": key, "value": attributes[key]} for key in values]).attributes


def test_a_broken_attribute_is_skipped_with_a_warning():
    attributes = [
        {"value": {"stringValue": "x"}},
        5,
        {"key": "n", "value": {"intValue": "many"}},
        {"key": "l", "value": {"arrayValue": {"values": 5}}},
        {"key": "good", "value": {"stringValue": "x"}},
    ]
    decoded = decode(wrap_json(export({**SPAN, "attributes": attributes})))
    (span,) = decoded.spans
    warnings = span.attributes.pop("ragsonde.warnings")
    assert span.attributes == {"good": "x"}
    assert (decoded.faults, decoded.warnings) == ((), ())
    places = ["[0]", "[1]", "[2].value.intValue", "[3].value.arrayValue.values"]
    for place, warning in zip(places, warnings, strict=True):
        assert warning.startswith(f"resourceSpans[0].scopeSpans[0].spans[0].attributes{place}: found ")
        assert warning.endswith("; skipped")


def test_of_many_broken_attributes_five_are_named():
    *named, more = read(attributes=[5] * 1000).attributes["ragsonde.warnings"]
    assert (len(named), more) == (5, "995 more in the same place")


def test_broken_attributes_of_resources_and_events_are_told_there():
    value = export({**SPAN, "events": [{"name": "e", "attributes": [5]}]}, resource={"attributes": [7]})
    (span,) = decode(wrap_json(value)).spans
    assert "ragsonde.warnings" not in span.attributes
    assert "found number 7" in span.resource["ragsonde.warnings"][0]
    assert "found number 5" in span.events[0].attributes["ragsonde.warnings"][0]


@pytest.mark.parametrize(
    ("fields", "reason", "key"),
    [
        ({"traceId": None}, ParkReason.BAD_TRACE_ID, "traceId"),
        ({"traceId": "ab" * 15}, ParkReason.BAD_TRACE_ID, "traceId"),
        ({"traceId": {"type": "Buffer", "data": [1, 2]}}, ParkReason.BAD_TRACE_ID, "traceId"),
        ({"traceId": {"type": "Buffer", "data": [300] * 16}}, ParkReason.BAD_TRACE_ID, "traceId"),
        ({"spanId": ""}, ParkReason.INVALID_MESSAGE, "spanId"),
        ({"parentSpanId": "abc"}, ParkReason.INVALID_MESSAGE, "parentSpanId"),
        ({"attributes": 5}, ParkReason.INVALID_MESSAGE, "attributes"),
        ({"startTimeUnixNano": "soon"}, ParkReason.INVALID_MESSAGE, "startTimeUnixNano"),
        ({"startTimeUnixNano": True}, ParkReason.INVALID_MESSAGE, "startTimeUnixNano"),
    ],
)
def test_a_bad_span_is_a_fault_beside_the_good_ones(fields, reason, key):
    decoded = decode(wrap_json(export(SPAN, {**SPAN, **fields}, SPAN)))
    assert [span.name for span in decoded.spans] == ["root", "root"]
    (fault,) = decoded.faults
    assert reason is fault.reason
    assert f"resourceSpans[0].scopeSpans[0].spans[1].{key}" == fault.where


def test_a_bad_resource_is_a_fault_beside_the_good_ones():
    value = export(SPAN)
    value["resourceSpans"] += [5, {"scopeSpans": [{"scope": 5, "spans": [SPAN]}]}]
    decoded = decode(wrap_json(value))
    assert len(decoded.spans) == 1
    assert [fault.where for fault in decoded.faults] == [
        "resourceSpans[1]",
        "resourceSpans[2].scopeSpans[0].scope",
    ]


def test_bad_spans_count_towards_the_limit():
    refuse(export(SPAN, *[{}] * 2), ParkReason.OVER_LIMIT, DecodingLimits(spans=2))


def test_the_sampling_probability_of_the_tracestate_is_an_attribute():
    assert read(traceState="ot=th:8").attributes == {"ragsonde.sampling_probability": 0.5}
    assert read(trace_state="ot=th:8").attributes == {"ragsonde.sampling_probability": 0.5}
    assert read(traceState="ot=rv:8").attributes == {}


@pytest.mark.parametrize("key", ["resourceLogs", "resource_metrics"])
def test_another_signal_is_refused_by_name(key):
    assert "only traces are read" in str(refuse({key: []}, ParkReason.UNKNOWN_FORMAT))


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
                    "instrumentationLibrarySpans",
                    "data",
                    "low",
                    "high",
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
