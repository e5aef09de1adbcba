import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import SpanEvent

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
START_NS = 1_795_990_497_031_595_079
SPAN = {"span_id": "b0ed544dd02cbc3a", "name": "rag", "start_time_unix_nano": START_NS, "attributes": {}}
OLD = {
    "info": {
        "request_id": "tr-1",
        "experiment_id": "0",
        "request_metadata": [{"key": "mlflow.trace.session", "value": "s"}],
        "tags": [{"key": "env", "value": "production"}],
    },
    "data": {
        "request": '{"question": "q"}',
        "response": '"a"',
        "spans": [
            {
                "name": "rag",
                "context": {
                    "span_id": "0xb0ed544dd02cbc3a",
                    "trace_id": "0x4bf227d5a3021659a77460bb05497246",
                },
                "parent_id": None,
                "start_time": START_NS,
                "end_time": START_NS + 5,
                "status_code": "ERROR",
                "attributes": {"mlflow.spanType": '"CHAIN"'},
                "events": [{"name": "exception", "timestamp": START_NS, "attributes": {"k": "v"}}],
            },
            {
                "name": "retrieve",
                "context": {"span_id": "0x349d213eff9cd527"},
                "parent_id": "0xb0ed544dd02cbc3a",
                "start_time": START_NS + 1,
            },
        ],
    },
}


def read(value):
    decoded = decode(wrap_json(value))
    (whole,) = decoded.records
    assert (decoded.format, decoded.spans) == ("mlflow_trace", ())
    return whole


def trace(*spans, **info):
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": list(spans)}}


def refuse(value, reason, **options):
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json(value), **options)
    assert caught.value.reason is reason
    return caught.value.where


def test_a_trace_of_the_real_library_is_read():
    body = (SAMPLES / "mlflow_trace.json").read_bytes()
    (whole,) = decode(wrap(body)).records
    written = json.loads(body)
    assert [span["name"] for span in written["data"]["spans"]] == [span.name for span in whole.spans]
    ids = [base64.b64decode(span["span_id"]).hex() for span in written["data"]["spans"]]
    assert ids == [span.span_id for span in whole.spans]
    assert [None, ids[0], ids[0]] == [span.parent_span_id for span in whole.spans]
    assert {"tr-4bf227d5a3021659a77460bb05497246"} == {span.trace_id for span in whole.spans}
    assert whole.spans[0] is whole.root
    assert (whole.root.start_ns, whole.root.end_ns) == (1795990497031595079, 1795990497042172302)
    info = written["info"]
    assert info["trace_metadata"] == whole.root.attributes["mlflow.info.trace_metadata"]
    assert info["tags"] == whole.root.attributes["mlflow.info.tags"]
    assert info["request_preview"] == whole.root.attributes["mlflow.info.request_preview"]
    assert written["data"]["spans"][1]["attributes"] == whole.spans[1].attributes


def test_a_trace_of_version_2_is_read():
    whole = read(OLD)
    root, child = whole.spans
    assert (root.trace_id, root.span_id, root.parent_span_id) == ("tr-1", "b0ed544dd02cbc3a", None)
    assert (child.span_id, child.parent_span_id) == ("349d213eff9cd527", "b0ed544dd02cbc3a")
    assert (root.start_ns, root.end_ns, root.is_error) == (START_NS, START_NS + 5, True)
    assert (SpanEvent("exception", START_NS, {"k": "v"}),) == root.events
    assert root.attributes == {
        "mlflow.spanType": '"CHAIN"',
        "mlflow.info.request_id": "tr-1",
        "mlflow.info.experiment_id": "0",
        "mlflow.info.trace_metadata": {"mlflow.trace.session": "s"},
        "mlflow.info.tags": {"env": "production"},
        "mlflow.data.request": '{"question": "q"}',
        "mlflow.data.response": '"a"',
    }
    assert child.attributes == {}


def test_assessments_are_kept_as_they_came():
    assessments = [{"assessment_name": "expected_response", "expectation": {"value": "a"}}]
    assert (
        assessments == read(trace(SPAN, assessments=assessments)).root.attributes["mlflow.info.assessments"]
    )


@pytest.mark.parametrize(
    ("span_id", "read_id"),
    [
        ("sO1UTdAsvDo=", "b0ed544dd02cbc3a"),
        ("B0ED544DD02CBC3A", "b0ed544dd02cbc3a"),
        ("my span", "my span"),
        (7, "7"),
    ],
)
def test_span_ids_become_hex_where_they_are_ids_of_opentelemetry(span_id, read_id):
    assert read_id == read(trace({**SPAN, "span_id": span_id})).root.span_id


@pytest.mark.parametrize("parent", [None, "", "0", "0x0000000000000000", "AAAAAAAAAAA=", 0])
def test_no_parent_is_a_root(parent):
    assert read(trace({**SPAN, "parent_span_id": parent})).root.parent_span_id is None


def test_without_a_trace_id_that_of_the_spans_is_taken():
    value = trace({**SPAN, "trace_id": "S/In1aMCFlmndGC7BUlyRg=="}, trace_metadata={})
    del value["info"]["trace_id"]
    assert read(value).root.trace_id == "4bf227d5a3021659a77460bb05497246"


def test_the_root_is_the_earliest_span_without_a_parent_that_is_there():
    def span(number, parent, start):
        return {"span_id": f"{number:016x}", "parent_span_id": parent, "start_time_unix_nano": start}

    orphans = trace(
        span(1, "f" * 16, 5 * 10**17), span(2, "f" * 16, 4 * 10**17), span(3, f"{2:016x}", 10**17)
    )
    assert f"{2:016x}" == read(orphans).root.span_id
    roots = trace(span(1, None, 5 * 10**17), span(2, None, 4 * 10**17), span(3, "f" * 16, 10**17))
    assert f"{2:016x}" == read(roots).root.span_id
    circle = trace(span(1, f"{2:016x}", 5 * 10**17), span(2, f"{1:016x}", 4 * 10**17))
    assert f"{2:016x}" == read(circle).root.span_id
    assert [item.span_id for item in read(circle).spans] == [f"{2:016x}", f"{1:016x}"]


def test_a_bad_span_is_a_fault_beside_the_good_ones():
    decoded = decode(wrap_json(trace(SPAN, {**SPAN, "span_id": None}, 5, {**SPAN, "attributes": 5})))
    assert len(decoded.records[0].spans) == 1
    assert [fault.where for fault in decoded.faults] == [
        "data.spans[1].span_id",
        "data.spans[2]",
        "data.spans[3].attributes",
    ]


def test_what_cannot_be_read_is_refused():
    assert refuse(trace(), ParkReason.INVALID_MESSAGE) == "data.spans"
    assert refuse(trace({}), ParkReason.INVALID_MESSAGE) == "data.spans[0].span_id"
    assert refuse(trace(SPAN, trace_id="x" * 129), ParkReason.BAD_TRACE_ID) == "info.trace_id"
    assert refuse(trace(SPAN, trace_id=None, experiment_id="0"), ParkReason.BAD_TRACE_ID) == "info.trace_id"
    refuse(trace(SPAN, SPAN), ParkReason.OVER_LIMIT, limits=DecodingLimits(spans=1))


def test_an_attribute_with_a_huge_index_is_left_out_with_a_warning():
    high = {"retrieval.documents.999999999.document.id": "x", "b": 1}
    (span,) = read(trace({**SPAN, "attributes": high})).spans
    (warning,) = span.attributes.pop("ragsonde.warnings")
    assert (span.attributes["b"], "999999999" in warning) == (1, True)
    assert "retrieval.documents" not in str(span.attributes)


def test_mended_texts_are_told():
    assert read(trace({**SPAN, "name": "\0"})).warnings == (
        "data.spans[0].name: NUL or lone surrogate replaced by U+FFFD",
    )


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["ERROR", "0x12"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*SPAN, *OLD["data"]["spans"][0], "parent_span_id", "status"]), JUNK),
    st.dictionaries(
        st.sampled_from(["trace_id", "request_id", "trace_metadata", "tags", "assessments"]), JUNK
    ),
)
def test_any_shape_is_read_or_refused(span, info):
    for value in (
        trace({**SPAN, **span}, **info),
        trace(SPAN, span),
        {"info": info, "data": {"spans": [span]}},
    ):
        refusal = find_refusal(decode, wrap_json(value))
        assert refusal is None or "expected" in str(refusal)
