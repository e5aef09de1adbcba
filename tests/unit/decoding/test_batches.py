import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from builders.spans import TRACE_ID
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.sniffing import BodyKind, find_body_kind
from ragsonde.decoding.table import DEFAULT_FORMATS, BinaryFormat, decode
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

OTLP = {
    "resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE_ID, "spanId": "b" * 16, "name": "s"}]}]}]
}
DIFY = {"conversation_id": "c", "message_id": "m", "answer": "a", "metadata": {"retriever_resources": []}}


def native(number, **fields):
    return {"trace_id": f"t{number}", "query": "q", **fields}


def write_lines(*values):
    return b"\n".join(json.dumps(value).encode() for value in values)


def list_ids(decoded):
    return [record.message.trace_id for record in decoded.records]


def refuse(envelope, reason, **options):
    with pytest.raises(DecodeError) as caught:
        decode(envelope, **options)
    assert caught.value.reason is reason
    return caught.value


@pytest.mark.parametrize("content_type", [None, "application/json", CONTENT_TYPE, "text/plain"])
def test_each_item_of_an_array_is_read(content_type):
    decoded = decode(wrap_json([native(1), native(2), native(3)], content_type=content_type))
    assert list_ids(decoded) == ["t1", "t2", "t3"]
    assert (decoded.format, decoded.faults) == ("native", ())


@pytest.mark.parametrize(
    "content_type", [None, "application/json", "application/x-ndjson", CONTENT_TYPE, "text/plain"]
)
@pytest.mark.parametrize("separator", [b"\n", b"\r\n", b" \n\n \t\n"])
def test_each_of_several_lines_is_read(content_type, separator):
    body = separator.join(json.dumps(native(number)).encode() for number in (1, 2, 3)) + separator
    for text in (body, b"\xef\xbb\xbf" + body, b"\n" + body):
        assert list_ids(decode(wrap(text, content_type=content_type))) == ["t1", "t2", "t3"]


def test_one_object_over_several_lines_is_one_message():
    body = json.dumps(native(1, contexts=[{"content": "}\n{"}, {"content": "b"}]), indent=1).encode()
    assert list_ids(decode(wrap(body))) == ["t1"]


def test_records_of_several_formats_are_read_each_by_its_own():
    items = [native(1), OTLP, DIFY]
    for envelope in (wrap_json(items), wrap(write_lines(*items))):
        decoded = decode(envelope)
        assert decoded.format == "mixed"
        assert [span.name for span in decoded.spans] == ["s"]
        assert [type(record).__name__ for record in decoded.records] == ["DecodedMessage", "ForeignDocument"]
        assert decoded.faults == ()


def test_a_bad_item_is_a_fault_that_names_its_place_beside_the_good_ones():
    items = [native(1), {"hello": 1}, native(2), native(3, contexts=["a", 5]), 7, native(4, trace_id="")]
    decoded = decode(wrap_json(items))
    assert list_ids(decoded) == ["t1", "t2"]
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [
        (ParkReason.UNKNOWN_FORMAT, "[1]"),
        (ParkReason.INVALID_MESSAGE, "[3].contexts[1]"),
        (ParkReason.UNKNOWN_FORMAT, "[4]"),
        (ParkReason.BAD_TRACE_ID, "[5].trace_id"),
    ]
    assert str(decoded.faults[1]).startswith("[3].contexts[1]: found number 5, expected ")


def test_a_bad_line_is_a_fault_that_names_its_number():
    body = write_lines(native(1), native(2)) + b"\n\n" + b'{"trace_id": "t3", "que\n'
    body += write_lines(native(4, contexts=[5]), native(5)) + b"\n\xff"
    decoded = decode(wrap(body))
    assert list_ids(decoded) == ["t1", "t2", "t5"]
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [
        (ParkReason.INVALID_JSON, "line 4"),
        (ParkReason.INVALID_MESSAGE, "line 5: contexts[0]"),
        (ParkReason.INVALID_UTF8, "line 7"),
    ]
    assert str(decoded.faults[1]).startswith("line 5: contexts[0]: found number 5")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"trace_id": 1e999}', "line 2: found 1e999 at column 14, expected "),
        (b'{"trace_id": nope}', "line 2: no JSON: Expecting value at column 14"),
        (b'{"trace_id": "t"} x', "line 2: more follows after the first JSON value, at column 19"),
        (b'{"trace_id": "t', "line 2: the text ends inside a value"),
        (b"[" * 65, "line 2: nested deeper than 64 levels at column 65"),
        (b'{"a": 1, "a": 2}', "line 2: a: the key occurs twice"),
    ],
)
def test_a_fault_in_a_line_names_the_line_once(line, text):
    (fault,) = decode(wrap(write_lines(native(1)) + b"\n" + line, content_type="application/x-ndjson")).faults
    assert str(fault).startswith(text)
    assert "line 1" not in str(fault)


def test_faults_inside_an_item_are_placed_in_it():
    spans = OTLP["resourceSpans"][0]["scopeSpans"][0]["spans"]
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [*spans, {}]}]}]}
    (fault,) = decode(wrap_json([native(1), export])).faults
    assert fault.where == "[1].resourceSpans[0].scopeSpans[0].spans[1].traceId"


def test_nothing_but_bad_items_is_refused_with_the_first():
    assert refuse(wrap_json([{"hello": 1}, native(1, query=5)]), ParkReason.UNKNOWN_FORMAT).where == "[0]"
    body = write_lines(native(1, query=5), {"hello": 1})
    assert refuse(wrap(body), ParkReason.INVALID_MESSAGE).where == "line 1: query"


def test_an_item_whose_text_is_refused_leaves_the_others():
    body = b'[{"trace_id": "t1"}, {"trace_id": "t2", "query": "a", "query": "b"}, {"trace_id": "t3"}]'
    decoded = decode(wrap(body))
    assert list_ids(decoded) == ["t1", "t3"]
    (fault,) = decoded.faults
    assert (fault.reason, fault.where) == (ParkReason.INVALID_JSON, "[1].query")


@pytest.mark.parametrize(
    "body", [b'[{"trace_id": "t1"}, {"trace_id": "t2"', b"[NaN]", b"[1,]", b"[[[[[[[", b'[{"a":1,"a":2}]']
)
def test_an_array_that_cannot_be_cut_is_refused_whole(body):
    refuse(wrap(body), ParkReason.INVALID_JSON)


def test_warnings_name_the_places_in_their_items():
    mended = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE_ID, "spanId": "b" * 16}]}]}]}
    mended["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = "\0"
    decoded = decode(wrap_json([native(1, query="\0"), native(2), mended, native(3, tags=["\0"])]))
    first, second, third = decoded.records
    assert list(first.warnings) == ["query: NUL or lone surrogate replaced by U+FFFD"]
    assert second.warnings == ()
    assert list(third.warnings) == ["tags[0]: NUL or lone surrogate replaced by U+FFFD"]
    (warning,) = decoded.warnings
    assert warning.startswith("[2].resourceSpans[0].scopeSpans[0].spans[0].name: NUL")
    many = decode(wrap_json([mended] * 50))
    assert (len(many.warnings), many.warnings[-1]) == (21, "message: 30 more warnings")


def test_the_number_of_items_is_limited():
    limits = DecodingLimits(records=3)
    for count, envelope in [(count, wrap_json([native(1)] * count)) for count in (3, 4)] + [
        (count, wrap(write_lines(*[native(1)] * count))) for count in (3, 4)
    ]:
        if count == 3:
            assert len(decode(envelope, limits=limits).records) == 3
        else:
            error = refuse(envelope, ParkReason.OVER_LIMIT, limits=limits)
            assert "found 4 records, expected at most 3" in str(error)
    assert len(decode(wrap_json([native(1)] * 1000)).records) == 1000
    refuse(wrap_json([native(1)] * 1001), ParkReason.OVER_LIMIT)


def test_the_number_of_spans_of_all_items_is_limited():
    assert len(decode(wrap_json([OTLP, OTLP]), limits=DecodingLimits(spans=2)).spans) == 2
    refuse(wrap_json([OTLP, OTLP, OTLP]), ParkReason.OVER_LIMIT, limits=DecodingLimits(spans=2))


ITEMS = st.sampled_from(
    [native(1), OTLP, DIFY, {}, [], None, 5, "x", native(2, query=5), {"resourceSpans": 5}]
)


@given(st.lists(ITEMS, min_size=2, max_size=6))
def test_every_item_is_read_or_is_a_fault(items):
    def read(envelope):
        refusal = find_refusal(decode, envelope)
        return None if refusal else decode(envelope)

    single = [read(wrap_json(item)) for item in items]
    good = [decoded for decoded in single if decoded is not None]
    batch = read(wrap_json(items))
    if not good:
        assert batch is None
        return
    assert len(items) - len(good) == len(batch.faults)
    assert [record for decoded in good for record in decoded.records] == list(batch.records)
    assert [span for decoded in good for span in decoded.spans] == list(batch.spans)


def test_a_content_type_of_lines_makes_every_line_an_item():
    body = json.dumps(native(1)).encode() + b"\nno JSON"
    decoded = decode(wrap(body, content_type="application/x-ndjson"))
    assert list_ids(decoded) == ["t1"]
    assert [fault.where for fault in decoded.faults] == ["line 2"]


@pytest.mark.parametrize(
    ("bad", "reason"), [(b"garbage", ParkReason.INVALID_JSON), (b"5", ParkReason.UNKNOWN_FORMAT)]
)
@pytest.mark.parametrize("content_type", [None, "application/json", "text/plain", "application/x-ndjson"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_is_no_object_leaves_the_others_wherever_it_stands(bad, reason, content_type, place):
    lines = [json.dumps(native(1)).encode(), json.dumps(native(2)).encode()]
    lines.insert(place, bad)
    decoded = decode(wrap(b"\n".join(lines), content_type=content_type))
    assert list_ids(decoded) == ["t1", "t2"]
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [(reason, f"line {place + 1}")]


def test_a_blank_first_line_and_a_bad_one_are_no_protobuf():
    decoded = decode(wrap(b"\n5\n" + json.dumps(native(1)).encode()))
    assert (list_ids(decoded), [fault.where for fault in decoded.faults]) == (["t1"], ["line 2"])


def test_text_that_a_format_of_others_takes_is_not_taken_for_lines():
    def decode_logs(body, limits):
        assert limits.spans
        return Decoded(format="logs", warnings=(body[:4].decode(),))

    row = BinaryFormat("logs", frozenset(), lambda body: body.startswith(b"log:"), decode_logs)
    body = b"log:\n" + json.dumps(native(1)).encode()
    assert decode(wrap(body), formats=DEFAULT_FORMATS.extended([row])).format == "logs"
    assert list_ids(decode(wrap(body))) == ["t1"]


def test_a_line_may_hold_an_array():
    decoded = decode(wrap(write_lines([native(1), 5], native(2), [native(3)])))
    assert list_ids(decoded) == ["t1", "t2", "t3"]
    assert [fault.where for fault in decoded.faults] == ["line 1: [1]"]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON_VALUES.filter(lambda value: isinstance(value, list | dict)), st.integers(0, 2))
def test_one_value_however_it_is_indented_is_never_taken_for_lines(value, indent):
    for spaces in (indent, None):
        body = json.dumps(value, indent=spaces).replace(",", "\n,").encode()
        assert find_body_kind(body, content_type="") is BodyKind.JSON


RUN = {"id": "r", "trace_id": "t", "parent_run_id": None, "run_type": "chain", "inputs": {"input": "q"}}
BELOW = {**RUN, "id": "b", "parent_run_id": "r", "run_type": "llm"}
OBSERVATION = {"id": "o", "traceId": "u", "type": "SPAN", "startTime": "2026-11-29T22:13:00Z"}


def test_parts_of_a_trace_are_read_together_and_the_others_by_themselves():
    items = [native(1), BELOW, None, OBSERVATION, RUN, {**OBSERVATION, "id": "p"}, native(2)]
    for envelope, bad in ((wrap_json(items), "[2]"), (wrap(write_lines(*items)), "line 3")):
        decoded = decode(envelope)
        assert decoded.format == "mixed"
        first, run, trace, last = decoded.records
        assert (first.message.trace_id, last.message.trace_id) == ("t1", "t2")
        assert run.document == {**RUN, "child_runs": [BELOW]}
        assert [item["id"] for item in trace.document["observations"]] == ["o", "p"]
        assert [fault.where for fault in decoded.faults] == [bad]


def test_faults_and_warnings_of_parts_name_the_places_in_the_delivery():
    lost = {**BELOW, "trace_id": "x", "parent_run_id": "y"}
    items = [native(1), {**RUN, "name": "\0"}, lost, {**RUN, "id": "q", "trace_id": "z", "inputs": 1e999}]
    for envelope, places in (
        (wrap_json(items), ["[1].name", "[2].parent_run_id", "[3].inputs"]),
        (wrap(write_lines(*items)), ["line 2: name", "line 3: parent_run_id", "line 4: inputs"]),
    ):
        decoded = decode(envelope)
        (warning,) = decoded.records[1].warnings
        assert warning.startswith(f"{places[0]}: NUL")
        assert sorted(fault.where for fault in decoded.faults) == places[1:]


def test_more_parts_than_records_may_be_in_one_delivery():
    runs = [RUN, *({**BELOW, "id": str(number)} for number in range(2000))]
    (record,) = decode(wrap_json(runs)).records
    assert len(record.document["child_runs"]) == 2000
    refuse(wrap_json(runs), ParkReason.OVER_LIMIT, limits=DecodingLimits(spans=2000))
