"""Messages of real libraries, damaged: read or refused, never anything else."""

import gzip
import json
import zlib
from copy import deepcopy
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap, wrap_json
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import ParkReason

SAMPLES = {
    path.name: path.read_bytes()
    for path in sorted((Path(__file__).parents[2] / "data" / "samples").iterdir())
    if path.name != "MANIFEST.json" and not path.name.endswith(".expected.json")
}
NAMES = st.sampled_from(sorted(SAMPLES))
JSON_NAMES = st.sampled_from([name for name in sorted(SAMPLES) if name.endswith(".json")])
COMPRESSORS = st.sampled_from([gzip.compress, zstandard.compress, zlib.compress, lambda body: body])
ODD = st.sampled_from(
    [None, True, 0, -1, 1e300, 2**70, "", "\0", "x", [], {}, [[]], {"0": {}}, [None], {"": 0}]
)


def check(envelope):
    refusal = find_refusal(decode, envelope)
    if refusal is not None:
        assert refusal.reason in set(ParkReason) - {ParkReason.INTERNAL_ERROR}
        assert refusal.where
        return
    decoded = decode(envelope)
    assert decoded.records or decoded.spans
    for span in decoded.spans:
        assert 0 < len(span.trace_id) <= 128
        assert 0 < len(span.span_id) <= 128
        assert -(2**63) <= span.start_ns < 2**64


def list_places(value, place=()):
    """The place of every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from list_places(item, (*place, key))


def change(value, place, new):
    """Puts a copy of `new` at a place; None: removes what is there."""
    new = deepcopy(new)
    for key in place[:-1]:
        value = value[key]
    if new is None and isinstance(value, dict):
        del value[place[-1]]
    else:
        value[place[-1]] = new


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_compressed_or_not(name):
    decoded = decode(wrap(SAMPLES[name]))
    assert decoded.faults == ()
    for compress in (gzip.compress, zstandard.compress):
        assert decoded == decode(wrap(compress(SAMPLES[name])))


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith(".json")])
def test_a_sample_is_read_beside_a_native_message_in_an_array_and_on_lines(name):
    value, native = json.loads(SAMPLES[name]), {"trace_id": "t", "query": "q"}
    one, other = decode(wrap_json(value)), decode(wrap_json(native))
    lines = b"\n".join(json.dumps(item).encode() for item in (value, native))
    for envelope in (wrap_json([value, native]), wrap(lines)):
        decoded = decode(envelope)
        assert (decoded.format, decoded.faults) == ("mixed", ())
        assert (*one.records, *other.records) == decoded.records
        assert one.spans == decoded.spans


@given(NAMES, COMPRESSORS, st.data())
def test_a_sample_with_other_bytes_is_read_or_refused(name, compress, data):
    body = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 5))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    check(wrap(compress(bytes(body)), content_encoding="deflate"))


@given(NAMES, COMPRESSORS, st.data())
def test_a_sample_cut_or_doubled_is_read_or_refused(name, compress, data):
    body = SAMPLES[name]
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(body))] * 2)))
    for damaged in (body[:end], body[begin:end], body[:begin] + body[end:], body[:end] + body[begin:]):
        check(wrap(compress(damaged), content_encoding="deflate"))


@given(JSON_NAMES, st.data())
def test_a_sample_with_an_odd_value_anywhere_is_read_or_refused(name, data):
    value = json.loads(SAMPLES[name])
    places = list(list_places(value))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places))
        try:
            change(value, place, data.draw(ODD))
        except (KeyError, IndexError, TypeError):
            continue
    check(wrap_json(value))
    check(wrap_json([value, {"trace_id": "t"}]))
