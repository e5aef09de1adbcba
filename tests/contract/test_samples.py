"""Every sample message gives what stands beside it."""

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest

from builders.envelopes import RECEIPT, wrap
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.extraction.report import describe_trace
from ragsonde.extraction.table import extract
from ragsonde_schemas.errors import DecodeError, ParkReason

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
WHOLE = sorted(path.name.removesuffix(".expected.json") for path in SAMPLES.glob("*.expected.json"))


def read(name):
    (record,) = gather_records(decode(wrap((SAMPLES / name).read_bytes())))
    return describe_trace(extract(record, receipt=RECEIPT, retention_days=14))


def test_there_are_samples():
    assert len(WHOLE) == 4


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_sample_gives_what_is_expected(name):
    expected = json.loads((SAMPLES / f"{name}.expected.json").read_text())
    del expected["_about"]
    described = read(name)
    context_fields = set(expected["contexts"][0])
    found = {field: described[field] for field in expected}
    found["contexts"] = [
        {field: value for field, value in context.items() if field in context_fields}
        for context in described["contexts"]
    ]
    assert expected == found
    assert described["extraction"]["warnings"] == []


@pytest.mark.parametrize("library", ["langchain", "llamaindex"])
def test_protobuf_and_json_of_one_trace_give_the_same(library):
    one, other = (read(f"{library}_openinference.otlp.{encoding}") for encoding in ("pb", "json"))
    for described in (one, other):
        del described["trace_id"], described["extraction"]["format"]
    assert one == other


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("langchain_openinference.split-1of3.otlp.json", "the root, and a parent is missing"),
        ("langchain_openinference.split-2of3.otlp.json", "the retrieval is missing"),
        ("langchain_openinference.split-3of3-late-retriever.otlp.json", "the root, and a parent is missing"),
        ("otlp_proto_example_trace.json", "the root, and a parent is missing"),
    ],
)
def test_a_part_of_a_trace_is_refused_with_what_is_missing(name, missing):
    with pytest.raises(DecodeError, match=missing) as caught:
        read(name)
    assert caught.value.reason is ParkReason.INCOMPLETE_TRACE


def test_every_sample_has_its_origin_and_licence():
    manifest = json.loads((SAMPLES / "MANIFEST.json").read_text())
    for path in SAMPLES.iterdir():
        if path.name != "MANIFEST.json":
            (entry,) = (entry for pattern, entry in manifest.items() if fnmatch(path.name, pattern))
            assert entry["source"]
            assert entry["licence"]
            assert entry["origin"]
