"""Bodies of a mebibyte made to cost much: read or refused within seconds, whatever they hold."""

import json
from time import process_time

import pytest
from google.protobuf.json_format import MessageToDict

from builders.envelopes import find_refusal, wrap
from builders.spans import TRACE_ID, make_span, write_export, write_request
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import ParkReason

LIMITS = DecodingLimits(body_bytes=2_000_000)
CPU_SECONDS = 8.0
"""Far above what linear work takes on a slow machine, far below what quadratic work would."""


def message(**fields):
    return json.dumps({"trace_id": "t", "query": "q", **fields}).encode()


def chain(length):
    """Retrievers below retrievers, none of which found anything."""
    attributes = {"output.value": "[]"}
    spans = [
        make_span(number, number - 1 or None, kind="RETRIEVER", attributes=attributes)
        for number in range(1, length)
    ]
    return write_export(*spans)


def export(*spans):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}, separators=(",", ":"))


def span_with(attributes):
    return {"traceId": TRACE_ID, "spanId": "1" * 16, "attributes": attributes}


def flat_runs(parents):
    """Runs, each below another, none of which says its trace."""
    return json.dumps(
        [{"id": f"{n}", "parent_run_id": f"{p}", "run_type": "x", "inputs": {}} for n, p in parents]
    ).encode()


def observations(**fields):
    return json.dumps(
        [
            {"id": f"{n}", "traceId": f"{n}", "type": "SPAN", "startTime": "", "name": "\0", **fields}
            for n in range(10_000)
        ]
    ).encode()


BODIES = {
    "a chain of runs": lambda: flat_runs((n, n - 1) for n in range(10_000)),
    "a chain of runs from its end": lambda: flat_runs((n, n + 1) for n in range(10_000)),
    "a loop of runs": lambda: flat_runs((n, (n + 1) % 10_000) for n in range(10_000)),
    "patches of one run": lambda: json.dumps(
        {"post": [{"id": "a", "trace_id": "a", f"k{n}": 1} for n in range(10_000)]}
    ).encode(),
    "texts to mend in many traces": observations,
    "texts to mend in one trace": lambda: observations(traceId="t"),
    "open maps in an attribute": lambda: (
        export(span_with({"a": {}})).encode().replace(b"{}", b"[{" * 400_000)
    ),
    "deep attributes": lambda: (
        export(span_with({"a": 1})).encode().replace(b"1}", b"[" * 90_000 + b"]" * 90_000 + b"}", 1)
    ),
    "many damaged attributes": lambda: export(
        span_with([{"key": "k", "value": float("nan")}] * 20_000)
    ).encode(),
    "open brackets": lambda: b"[" * 1_000_000,
    "brackets to both ends": lambda: b'{"trace_id": "t", "x": ' + b"[" * 500_000 + b"]" * 500_000 + b"}",
    "escaped quotes in an open string": lambda: b'{"query": "' + b'\\"' * 500_000,
    "quotes": lambda: b'"' * 1_000_000,
    "backslashes": lambda: b'{"query": "' + b"\\" * 1_000_000,
    "many small lists": lambda: message(x=[[]] * 300_000),
    "many keys": lambda: message(**{f"k{number}": 1 for number in range(70_000)}),
    "many repeated keys": lambda: (
        b'{"trace_id": "t", "x": [' + b",".join([b'{"a":1,"a":2}'] * 70_000) + b"]}"
    ),
    "many texts to mend": lambda: message(tags=["\0"] * 10_000, x=["\0"] * 100_000),
    "many wrong items": lambda: message(tags=[5] * 10_000, messages=[5] * 10_000, contexts=[5] * 1000),
    "one long number": lambda: b'{"trace_id": ' + b"9" * 1_000_000 + b"}",
    "sentences without end": lambda: message(contexts=["Ab. " * 250_000]),
    "embedded JSON": lambda: message(contexts=[json.dumps(["\\"] * 100_000)]),
    "chain of retrievers": lambda: chain(7000),
    "an array of numbers": lambda: b"[" + b"5," * 400_000 + b"5]",
    "an array of arrays": lambda: json.dumps([[[]]] * 100_000).encode(),
    "an array with repeated keys": lambda: b"[" + b",".join([b'{"a":1,"a":2}'] * 900) + b"]",
    "an array of open brackets": lambda: b"[{" + b"[" * 900_000,
    "lines": lambda: b'{"a":1}\n' * 130_000,
    "line ends": lambda: b'{"a":1}' + b"\n" * 1_000_000,
    "ends of objects": lambda: b'{"a":1' + b"}\n" * 500_000,
    "bad spans": lambda: export(*[{}] * 9000).encode(),
    "too many spans": lambda: export(*[{}] * 100_000).encode(),
    "a huge index": lambda: export(span_with({"retrieval.documents.999999999.document.id": 1})).encode(),
    "nested attributes": lambda: export(
        span_with({"a": json.loads('{"arrayValue":{"values":[' * 15 + "]}}" * 15)})
    ).encode(),
    "many attributes": lambda: export(
        span_with([{"key": "k", "value": {"intValue": "x"}}] * 20_000)
    ).encode(),
    "many datadog tags": lambda: json.dumps(
        {"ml_app": "a", "spans": [{}] * 5000, "tags": ["a:b"] * 50_000}
    ).encode(),
    "mlflow spans": lambda: json.dumps({"info": {"trace_id": "t"}, "data": {"spans": [{}] * 9000}}).encode(),
    "zeros": lambda: b"\x0a" + bytes(1_000_000),
    "empty fields": lambda: b"\x0a\x00" * 500_000,
}


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_is_read_or_refused_within_seconds(name):
    body = BODIES[name]()

    started = process_time()
    refusal = find_refusal(decode, wrap(body), limits=LIMITS)
    assert process_time() - started < CPU_SECONDS
    assert refusal is None or len(str(refusal)) < 1000


@pytest.mark.parametrize(
    "write", [write_export, lambda *spans: json.dumps(MessageToDict(write_request(*spans))).encode()]
)
def test_ten_thousand_spans_are_read_and_one_more_is_not(write):
    limits = DecodingLimits(body_bytes=8_000_000)
    spans = [make_span(number) for number in range(1, 10_002)]
    assert len(decode(wrap(write(*spans[:-1])), limits=limits).spans) == 10_000
    refusal = find_refusal(decode, wrap(write(*spans)), limits=limits)
    assert refusal.reason is ParkReason.OVER_LIMIT
