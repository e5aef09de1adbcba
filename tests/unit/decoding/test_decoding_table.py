import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from builders.spans import make_span, write_export
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import DEFAULT_FORMATS, decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NATIVE = json.dumps({"trace_id": "t", "query": "q"}).encode()
OTLP_JSON = json.dumps(
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a" * 32, "spanId": "b" * 16}]}]}]}
).encode()
PROTOBUF = write_export(make_span(1))


def refuse(envelope, reason, **options):
    with pytest.raises(DecodeError) as caught:
        decode(envelope, **options)
    assert caught.value.reason is reason
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "content_type", "name"),
    [
        (NATIVE, None, "native"),
        (NATIVE, CONTENT_TYPE, "native"),
        (NATIVE, f"{CONTENT_TYPE}; charset=utf-8", "native"),
        (NATIVE, "application/json", "native"),
        (NATIVE, "application/octet-stream", "native"),
        (NATIVE, "text/plain", "native"),
        (b"\xef\xbb\xbf" + NATIVE, None, "native"),
        (b"\n \t" + NATIVE, None, "native"),
        (OTLP_JSON, None, "otlp_json"),
        (OTLP_JSON, "application/json", "otlp_json"),
        (PROTOBUF, None, "otlp_protobuf"),
        (PROTOBUF, "application/x-protobuf", "otlp_protobuf"),
        (PROTOBUF, "application/octet-stream", "otlp_protobuf"),
        (NATIVE, "application/x-ndjson", "native"),
    ],
)
def test_the_format_is_told_by_content_type_then_by_the_bytes(body, content_type, name):
    assert name == decode(wrap(body, content_type=content_type)).format


def test_each_format_has_its_own_name_and_content_types():
    formats = (*DEFAULT_FORMATS.json, *DEFAULT_FORMATS.binary)
    assert len({row.name for row in formats}) == len(formats)
    assert DEFAULT_FORMATS.names == (*(row.name for row in formats), "mixed")
    types = [name for row in formats for name in row.content_types]
    assert len(set(types)) == len(types)


def list_samples():
    return sorted(
        path
        for path in SAMPLES.glob("*.json")
        if path.name != "MANIFEST.json" and not path.name.endswith("expected.json")
    )


@pytest.mark.parametrize("path", list_samples(), ids=lambda path: path.name)
def test_no_sample_is_recognised_by_two_formats(path):
    *others, native = DEFAULT_FORMATS.json
    value = json.loads(path.read_text())
    recognised = [row.name for row in others if row.recognises(value)]
    assert [decode(wrap_json(value)).format] == (recognised or [native.name])


@pytest.mark.parametrize("key", ["schema_version", "contexts"])
def test_a_native_message_is_no_other_tools_whatever_it_carries(key):
    fields = {"trace_id": "t", "query": "q", "answer": "a", "messages": [], "metadata": {"documents": []}}
    value = {**fields, "output": [], "response": "a", "runId": "r", "conversation_id": "c", key: None}
    assert [row.name for row in DEFAULT_FORMATS.json if row.recognises(value)] == ["native"]


def test_a_content_type_that_names_a_format_decides():
    refuse(wrap(NATIVE, content_type="application/x-protobuf"), ParkReason.INVALID_PROTOBUF)
    refuse(wrap(OTLP_JSON, content_type=CONTENT_TYPE), ParkReason.BAD_TRACE_ID)
    refuse(wrap(b"hello", content_type="application/json"), ParkReason.INVALID_JSON)


@pytest.mark.parametrize("body", [b"", b"  \n\t ", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_an_empty_body_is_refused(body):
    refuse(wrap(body), ParkReason.EMPTY_BODY)
    refuse(wrap(body, content_type=CONTENT_TYPE), ParkReason.EMPTY_BODY)


def test_an_oversize_body_is_refused_by_its_whole_size():
    message = refuse(wrap(b"{" * 65536, body_bytes=5_000_000), ParkReason.OVERSIZE)
    assert "found 5000000 bytes, expected at most 1048576" in message
    refuse(wrap(b" " * 1_048_577), ParkReason.OVERSIZE)
    refuse(wrap(NATIVE), ParkReason.OVERSIZE, limits=DecodingLimits(body_bytes=len(NATIVE) - 1))
    decode(wrap(NATIVE), limits=DecodingLimits(body_bytes=len(NATIVE)))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"hello": 1, "world": 2}, "an object with keys 'hello', 'world'"),
        ({}, "an object without keys"),
        ({str(number): 1 for number in range(12)}, "and 2 more"),
        ({"resourceLogs": []}, "'resourceLogs'"),
        ([], "a list of 0"),
        ([{"hello": 1}], "[0]: found an object with keys 'hello'"),
        ([[{"trace_id": "a"}]], "[0]: found a list of 1"),
        ({"resourceMetrics": []}, "OTLP metrics; only traces are read"),
    ],
)
def test_json_of_no_known_format_is_refused_with_what_was_found(value, found):
    assert found in refuse(wrap_json(value), ParkReason.UNKNOWN_FORMAT)


@pytest.mark.parametrize(
    "body", [b"hello", b"\xff\xfe{\0", b"\x00\x01", b"5", b'"x"', b"\x12\x00", b"<xml/>"]
)
def test_other_bytes_are_refused_with_their_start(body):
    assert f"start with {body[:4].hex(' ')}" in refuse(wrap(body), ParkReason.UNKNOWN_FORMAT)


@pytest.mark.parametrize("encoding", ["utf-8", "binary", "identity", ""])
def test_other_content_encodings_change_nothing(encoding):
    assert decode(wrap(NATIVE, content_encoding=encoding)).format == "native"


@given(
    st.binary(max_size=300),
    st.sampled_from([None, CONTENT_TYPE, "application/json", "application/x-protobuf", "x/y+json", "", ";"]),
)
def test_any_bytes_under_any_content_type_are_read_or_refused(body, content_type):
    refusal = find_refusal(decode, wrap(body, content_type=content_type))
    assert refusal is None or refusal.reason in set(ParkReason)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.sampled_from([None, CONTENT_TYPE]))
def test_any_json_document_is_read_or_refused(value, content_type):
    refusal = find_refusal(decode, wrap_json(value, content_type=content_type))
    assert refusal is None or str(refusal)
