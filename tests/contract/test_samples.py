"""Every sample message gives what stands beside it."""

import itertools
import json
import random
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ragsonde.api import evaluate
from ragsonde.api.traces import read_items, read_traces
from ragsonde.extraction.report import describe_trace
from ragsonde_schemas.app_name import read_app

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
MANIFEST = json.loads((SAMPLES / "MANIFEST.json").read_text())
ENDING = ".expected.json"
SPLIT = sorted(path.name for path in SAMPLES.glob("langchain_openinference.split-*of3*.otlp.json"))
WHOLE = sorted(
    path.name.removesuffix(ENDING) for path in SAMPLES.glob(f"*{ENDING}") if "split-all" not in path.name
)
NOT_RAG = "otlp_proto_example_trace.json"
WITHOUT_TRACE_ID = ("haystack_pipeline_output.json", "llamaindex_response.json")
TRULENS = tuple(f"trulens_{step}_span.json" for step in ("record_root", "retrieval", "generation"))


ORDERS = list(itertools.permutations(SPLIT))


def name_order(order):
    return "-".join(re.search(r"split-(\d)", name)[1] for name in order)


def load(name):
    return json.loads((SAMPLES / name).read_text())


def load_expected(name):
    """The fields that must come out; a prefix where the manifest says so."""
    expected = load(name + ENDING)
    del expected["_about"]
    if expected.get("app") is not None:
        expected["app"] = read_app(expected["app"]) or None  # a producer's "default" names none
    if MANIFEST.get(name, {}).get("answer_is_prefix"):
        expected["answer_startswith"] = expected.pop("answer")
    return expected


def read(name):
    return read_body((SAMPLES / name).read_bytes())


def read_body(body):
    return [describe_trace(trace) for trace in read_traces(body)]


def join_exports(exports):
    """One OTLP/JSON body with the spans of several, in that order."""
    return json.dumps({"resourceSpans": [part for one in exports for part in one["resourceSpans"]]}).encode()


def pick(expected, found):
    """What was found, cut down to what `expected` says: its keys, its prefixes, its parts of texts."""
    if isinstance(expected, list) and isinstance(found, list):
        beyond = found[len(expected) :]
        return [pick(one, other) for one, other in zip(expected, found, strict=False)] + beyond
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return found
    picked = {}
    for key, value in expected.items():
        field, _, relation = key.rpartition("_")
        if relation == "startswith":
            picked[key] = (found[field] or "")[: len(value)]
        elif relation == "contains":
            picked[key] = value if value in found[field] else found[field]
        else:
            picked[key] = pick(value, found[key])
    return picked


@pytest.mark.parametrize("name", WHOLE)
def test_a_sample_gives_one_trace_with_what_is_expected(name):
    (described,) = read(name)
    expected = load_expected(name)
    assert expected == pick(expected, described)


@pytest.mark.parametrize("name", WHOLE)
def test_every_field_that_was_found_names_the_rule_that_found_it(name):
    (described,) = read(name)
    expected = load_expected(name)
    fields = {key.removesuffix("_startswith") for key, value in expected.items() if value is not None}
    assert set() == fields - set(described["extraction"]["fields"])
    assert all(evidence["rule"] for evidence in described["extraction"]["fields"].values())


@pytest.mark.parametrize("name", [name for name in WHOLE if MANIFEST[name]["origin"] == "generated"])
def test_messages_of_real_libraries_are_read_without_a_warning_but_for_a_missing_trace_id(name):
    (described,) = read(name)
    warnings = described["extraction"]["warnings"]
    if name in WITHOUT_TRACE_ID:
        assert [warning.split(":")[0] for warning in warnings] == ["trace_id_derived"]
    else:
        assert warnings == []


@pytest.mark.parametrize("name", WITHOUT_TRACE_ID)
def test_a_message_without_a_trace_id_has_the_same_one_each_time_and_another_content_another_one(name):
    (one,), (again,) = read(name), read(name)
    changed = json.loads((SAMPLES / name).read_text().replace("14 days", "15 days"))
    (other,) = read_body(json.dumps(changed).encode())
    assert one["trace_id"] == again["trace_id"] != other["trace_id"]
    assert len(one["trace_id"]) == 32
    assert set() == set(one["trace_id"]) - set("0123456789abcdef")


def test_a_trace_that_is_no_rag_trace_gives_nothing_and_no_error():
    assert read(NOT_RAG) == []


@pytest.mark.parametrize(
    "name", ["langchain_openinference", "llamaindex_openinference", "llamaindex_traceloop"]
)
def test_protobuf_and_json_of_one_trace_give_the_same(name):
    (one,), (other,) = (read(f"{name}.otlp.{encoding}") for encoding in ("pb", "json"))
    for described in (one, other):
        del described["trace_id"], described["extraction"]["format"]
    assert one == other


@pytest.mark.parametrize("order", ORDERS, ids=name_order)
def test_three_parts_of_a_trace_give_the_whole_one_in_whichever_order_they_come(order):
    expected = load("langchain_openinference.split-all.otlp.json" + ENDING)
    del expected["_about"]
    (described,) = read_body(join_exports(map(load, order)))
    assert expected == pick(expected, described)
    (whole,) = read("langchain_openinference.otlp.json")
    assert whole == described


@pytest.mark.parametrize("order", ORDERS, ids=name_order)
def test_three_lines_of_a_file_give_the_whole_trace_though_each_came_twice(order, tmp_path):
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(json.dumps(load(name)) + "\n" for name in (*order, *order)))
    items, bad = read_items(file)
    assert bad == []
    assert read("langchain_openinference.otlp.json") == [describe_trace(item.trace) for item in items]


def test_rows_of_one_trulens_record_are_one_trace():
    root, retrieval = (load_expected(name) for name in TRULENS[:2])
    expected = {**root, "contexts": retrieval["contexts"]}
    rows = [load(name) for name in TRULENS]
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        (described,) = read_body(json.dumps(rows).encode())
        assert expected == pick(expected, described)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("langfuse_export_vercel_aisdk.json", "no_context"),
        ("langfuse_export_llamaindex.json", "no_context"),
        ("langfuse_fixture_openlit_1.27.otlp.json", "no_context"),
    ],
)
def test_a_trace_of_which_no_contexts_are_known_is_not_scored_and_says_why(name, cause):
    report = evaluate(SAMPLES / name)
    assert {0} == {summary.n for summary in report.scores.values()}
    assert {cause} == {cause for summary in report.scores.values() for cause in summary.unscored}


def test_every_sample_has_its_origin_and_licence():
    for path in SAMPLES.iterdir():
        if path.name != "MANIFEST.json":
            (entry,) = (entry for pattern, entry in MANIFEST.items() if fnmatch(path.name, pattern))
            assert entry["source"]
            assert entry["licence"] in {"Apache-2.0", "Apache-2.0 (library)", "MIT", "MIT (library)"}
            assert entry["origin"] in {"generated", "derived", "fixture", "synthetic"}


def test_every_sample_has_its_expectation_beside_it():
    messages = {path.name for path in SAMPLES.iterdir() if not path.name.endswith((ENDING, "MANIFEST.json"))}
    assert messages == {*WHOLE, *SPLIT, NOT_RAG}
    assert len(WHOLE) == 25
