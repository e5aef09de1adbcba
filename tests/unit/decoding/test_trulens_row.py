import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
ROW = {
    "record": {"kind": 1, "name": "query", "status": "STATUS_CODE_UNSET"},
    "record_attributes": {"ai.observability.record_id": "dd121e81"},
    "resource_attributes": {"service.name": "trulens"},
    "start_timestamp": "2026-11-29 12:00:00.5",
    "timestamp": "2026-11-29 12:00:01",
    "trace": {
        "trace_id": "38285552113882235753580066402372722435",
        "span_id": "12203920175536650289",
        "parent_id": "5107167242136132510",
    },
}
NOON = 1_795_953_600_000_000_000


def read(**columns):
    (span,) = decode(wrap_json({**ROW, **columns})).spans
    return span


def refuse(reason, **columns):
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json({**ROW, **columns}))
    assert caught.value.reason is reason
    return caught.value.where


def test_all_columns_are_read():
    span = read()
    assert span.trace_id == "dd121e81"
    assert (
        int(span.span_id, 16),
        int(span.parent_span_id, 16),
    ) == (12203920175536650289, 5107167242136132510)
    assert (span.start_ns, span.end_ns) == (NOON + 500_000_000, NOON + 1_000_000_000)
    assert (span.name, span.kind, span.is_error) == ("query", 1, False)
    assert ROW["record_attributes"] == span.attributes
    assert ROW["resource_attributes"] == span.resource


def test_the_rows_of_one_record_are_one_trace():
    names = ("trulens_record_root_span", "trulens_retrieval_span", "trulens_generation_span")
    rows = [json.loads((SAMPLES / f"{name}.json").read_text()) for name in names]
    decoded = decode(wrap_json(rows))
    assert decoded.format == "trulens_row"
    root, retrieval, generation = decoded.spans
    assert {"dd121e81-ccc2-449f-a3ba-e12467d0d671"} == {span.trace_id for span in decoded.spans}
    assert root.parent_span_id is None
    assert root.span_id == retrieval.parent_span_id == generation.parent_span_id
    assert root.start_ns < retrieval.start_ns < retrieval.end_ns < generation.end_ns < root.end_ns
    assert list(decoded.spans) == [span for row in rows for span in decode(wrap_json(row)).spans]


def test_without_a_record_the_trace_id_is_hex():
    span = read(record_attributes={})
    assert (len(span.trace_id), int(span.trace_id, 16)) == (32, 38285552113882235753580066402372722435)
    assert read(record_attributes={}, resource_attributes={"ai.observability.record_id": "r"}).trace_id == "r"


def test_columns_may_be_json_in_strings():
    columns = {name: json.dumps(value) for name, value in ROW.items() if isinstance(value, dict)}
    assert read() == read(**columns)
    assert read(resource_attributes="").resource == {}


@pytest.mark.parametrize(
    ("trace_parent", "record_parent", "parent"),
    [
        ("", "", None),
        (None, None, None),
        ("0", "", None),
        ("", "10", f"{10:016x}"),
        (10, "", f"{10:016x}"),
        ("span a", "", "span a"),
        (str(2**64), "", str(2**64)),
    ],
)
def test_the_parent_is_in_either_column(trace_parent, record_parent, parent):
    trace = {**ROW["trace"], "parent_id": trace_parent}
    record = {**ROW["record"], "parent_span_id": record_parent}
    assert parent == read(trace=trace, record=record).parent_span_id


def test_a_failed_span_is_an_error():
    assert read(record={"status": "STATUS_CODE_ERROR"}).is_error


def test_what_cannot_be_read_is_refused_with_its_place():
    assert refuse(ParkReason.INVALID_MESSAGE, trace={"trace_id": "1"}) == "trace.span_id"
    assert refuse(ParkReason.BAD_TRACE_ID, trace={}, record_attributes={}) == "trace.trace_id"
    assert refuse(ParkReason.INVALID_MESSAGE, record_attributes=[1]) == "record_attributes"


def test_an_attribute_with_a_huge_index_is_left_out_with_a_warning():
    high = {"retrieval.documents.999999999.document.id": "x", "b": 1}
    (span,) = decode(wrap_json({**ROW, "record_attributes": high})).spans
    assert span.attributes.pop("ragsonde.warnings")[0].startswith(
        f"span {span.span_id}: retrieval.documents."
    )
    assert span.attributes == {"b": 1}


def test_mended_texts_are_told():
    decoded = decode(wrap_json({**ROW, "record": {"name": "\0"}}))
    assert decoded.warnings == ("record.name: NUL or lone surrogate replaced by U+FFFD",)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("[{}]"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "kind", "status", "trace_id", "span_id", "parent_id", "ai.observability.record_id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(ROW)), JUNK))
def test_any_shape_is_read_or_refused(columns):
    refusal = find_refusal(decode, wrap_json({**ROW, **columns}))
    assert refusal is None or "expected" in str(refusal)
    assert find_refusal(decode, wrap(json.dumps([ROW, {**ROW, **columns}]).encode())) is None
