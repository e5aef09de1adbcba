import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
START_NS = 1_795_990_497_000_000_000
SPAN = {
    "trace_id": "t1",
    "span_id": "s1",
    "parent_id": "s0",
    "name": "retrieve",
    "start_ns": START_NS,
    "duration": 1000,
    "status": "ok",
    "meta": {"kind": "retrieval", "output": {"documents": [{"text": "x"}]}, "metadata": {"k": 1}},
    "metrics": {"input_tokens": 5},
    "tags": ["env:staging", "team:a:b", "bare", 5],
}


def message(*spans, **fields):
    return {"ml_app": "shop", "session_id": "sess", "spans": list(spans), **fields}


def wrap_intake(value):
    return wrap_json({"data": {"type": "span", "attributes": value}})


def read(**fields):
    (span,) = decode(wrap_intake(message({**SPAN, **fields}))).spans
    return span


def refuse(value, reason, **options):
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json(value), **options)
    assert caught.value.reason is reason
    return caught.value.where


def test_all_fields_of_a_span_are_read():
    value = message(SPAN, tags=["env:production", "version:3", "user_id:u"], service="svc")
    (span,) = decode(wrap_intake(value)).spans
    assert (span.trace_id, span.span_id, span.parent_span_id, span.name) == ("t1", "s1", "s0", "retrieve")
    assert (span.start_ns, span.end_ns, span.is_error) == (START_NS, START_NS + 1000, False)
    assert span.attributes == {
        "datadog.kind": "retrieval",
        "datadog.output": {"documents": [{"text": "x"}]},
        "datadog.metadata": {"k": 1},
        "datadog.metrics.input_tokens": 5,
        "datadog.tags.env": "staging",
        "datadog.tags.version": "3",
        "datadog.tags.user_id": "u",
        "datadog.tags.team": "a:b",
        "datadog.tags.bare": "",
    }
    assert span.resource == {"datadog.ml_app": "shop", "datadog.session_id": "sess", "datadog.service": "svc"}


def test_a_message_is_read_with_and_without_its_wrapping():
    value = message(SPAN)
    assert decode(wrap_intake(value)).spans == decode(wrap_json(value)).spans
    assert decode(wrap_json([value])).spans == decode(wrap_json(value)).spans
    del value["ml_app"]
    assert decode(wrap_json(value)).format == "datadog_spans"


@pytest.mark.parametrize("lost", [(), ("meta",), ("start_ns",)])
def test_a_span_is_read_alone_and_in_a_bare_list(lost):
    span = {key: value for key, value in SPAN.items() if key not in lost}
    other = {**SPAN, "span_id": "s2"}
    expected = decode(wrap_json({"spans": [span, other], "ml_app": "shop"})).spans
    bare = decode(wrap_json([span, other]))
    assert bare.format == "datadog_spans"
    assert [found._replace(resource={}) for found in expected] == list(bare.spans)
    assert decode(wrap_json(span)).spans == bare.spans[:1]


def test_a_bad_span_of_a_bare_list_is_a_fault():
    decoded = decode(wrap_json([SPAN, None, {**SPAN, "span_id": []}, {"span_id": "1"}]))
    assert len(decoded.spans) == 1
    assert [fault.where for fault in decoded.faults] == ["[1]", "[2].span_id", "[3]"]


def test_one_span_with_meta_tells_the_format_of_a_message():
    decoded = decode(wrap_json({"spans": [None, SPAN]}))
    assert (decoded.format, len(decoded.spans), len(decoded.faults)) == ("datadog_spans", 1, 1)


def test_a_span_of_which_a_part_cannot_be_kept_is_refused():
    (fault,) = decode(wrap(json.dumps([SPAN, {**SPAN, "duration": 1e999}]).encode())).faults
    assert fault.reason is ParkReason.INVALID_JSON


def test_a_native_message_with_keys_of_a_span_is_a_native_one():
    assert decode(wrap_json({"trace_id": "t", "span_id": "s", "meta": {}, "query": "q"})).format == "native"


def test_the_sample_is_read():
    body = (SAMPLES / "datadog_llmobs_spans.json").read_bytes()
    root, retrieval = decode(wrap(body)).spans
    assert (root.parent_span_id, retrieval.parent_span_id) == (None, "s0")
    documents = json.loads(body)["data"]["attributes"]["spans"][1]["meta"]["output"]["documents"]
    assert documents == retrieval.attributes["datadog.output"]["documents"]
    assert root.attributes["datadog.tags.version"] == "2026.11.3"


@pytest.mark.parametrize("parent", ["undefined", "0", "", None, 0])
def test_no_parent_is_a_root(parent):
    assert read(parent_id=parent).parent_span_id is None


def test_ids_may_be_numbers():
    span = read(trace_id=2**63, span_id=7, parent_id=8)
    assert (str(2**63), "7", "8") == (span.trace_id, span.span_id, span.parent_span_id)


def test_the_tracers_own_key_of_a_kind_is_read():
    assert read(meta={"span.kind": "llm"}).attributes["datadog.kind"] == "llm"


@pytest.mark.parametrize("fields", [{"status": "error"}, {"error": 1}])
def test_a_failed_span_is_an_error(fields):
    assert read(**fields).is_error


def test_tags_may_be_an_object():
    attributes = read(tags={"env": "dev", "n": 5}).attributes
    assert (attributes["datadog.tags.env"], attributes["datadog.tags.n"]) == ("dev", "5")


def test_a_bad_span_is_a_fault_beside_the_good_ones():
    bad = [
        {**SPAN, "trace_id": ""},
        {**SPAN, "span_id": []},
        {**SPAN, "duration": "long"},
        {**SPAN, "tags": 5},
    ]
    decoded = decode(wrap_json(message(SPAN, *bad)))
    assert len(decoded.spans) == 1
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [
        (ParkReason.BAD_TRACE_ID, "spans[1].trace_id"),
        (ParkReason.INVALID_MESSAGE, "spans[2].span_id"),
        (ParkReason.INVALID_MESSAGE, "spans[3].duration"),
        (ParkReason.INVALID_MESSAGE, "spans[4].tags"),
    ]


def test_what_cannot_be_read_is_refused():
    assert refuse(message({}), ParkReason.BAD_TRACE_ID) == "spans[0].trace_id"
    refuse(message(), ParkReason.UNKNOWN_FORMAT)
    refuse(message(SPAN, SPAN), ParkReason.OVER_LIMIT, limits=DecodingLimits(spans=1))


@pytest.mark.parametrize(
    "value", [{"spans": [{"a": 1}]}, {"spans": 5}, {"data": {"spans": []}}, {"data": []}]
)
def test_other_lists_of_spans_are_not_taken_for_datadogs(value):
    refuse(value, ParkReason.UNKNOWN_FORMAT)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*SPAN, "error", "session_id"]), JUNK),
    st.dictionaries(st.sampled_from(["tags", "ml_app", "session_id", "service"]), JUNK),
)
def test_any_shape_is_read_or_refused(span, fields):
    for value in (message({**SPAN, **span}, **fields), message(SPAN, span, **fields)):
        refusal = find_refusal(decode, wrap_intake(value))
        assert refusal is None or "expected" in str(refusal)
