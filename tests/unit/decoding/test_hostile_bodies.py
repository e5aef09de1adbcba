"""Bodies of a mebibyte made to cost much: read or refused within seconds, whatever they hold."""

import json
from time import process_time

import pytest

from builders.envelopes import RECEIPT, find_refusal, wrap
from builders.spans import make_span, write_export
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.extraction.table import extract

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


BODIES = {
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
    "zeros": lambda: b"\x0a" + bytes(1_000_000),
    "empty fields": lambda: b"\x0a\x00" * 500_000,
}


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_is_read_or_refused_within_seconds(name):
    body = BODIES[name]()

    def read():
        for record in gather_records(decode(wrap(body))):
            extract(record, receipt=RECEIPT, retention_days=90)

    started = process_time()
    refusal = find_refusal(read)
    assert process_time() - started < CPU_SECONDS
    assert refusal is None or len(str(refusal)) < 1000
