import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import wrap_json
from builders.spans import make_span, make_whole
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.findings import Findings, FoundContext
from ragsonde.extraction.mapping_trace import build_decoded_trace
from ragsonde.extraction.mapping_tree import build_tree, read_tree
from ragsonde_schemas.decoded import ForeignDocument
from ragsonde_schemas.span import SpanEvent
from ragsonde_schemas.trace import Context, ContextOrigin, Reference, Turn


def decode_native(**fields):
    (record,) = decode(wrap_json({"trace_id": "t", **fields}), limits=DecodingLimits()).records
    return record


def test_a_native_message_has_its_own_fields_beside_the_five_keys():
    tree = build_tree(
        decode_native(
            query="why?",
            messages=[{"role": "user", "content": "why?"}],
            contexts=[{"content": "c", "page": 3}],
            answer='{"text": "so", "chunks": ["x"]}',
            metadata={"retrievedContext": ["m"], "inner": '{"deep": [1]}'},
            colour="red",
        )
    )

    assert list(tree)[:5] == ["input", "output", "metadata", "attributes", "spans"]
    assert tree["input"] == {"query": "why?", "messages": [{"role": "user", "content": "why?"}]}
    assert tree["output"] == {"text": "so", "chunks": ["x"]}
    assert tree["metadata"] == {"retrievedContext": ["m"], "inner": {"deep": [1]}}
    assert tree["attributes"] == {"colour": "red", "contexts[0].page": 3}
    assert tree["spans"] == []
    assert (tree["colour"], tree["contexts"]) == ("red", [{"content": "c", "page": 3}])


def test_a_native_message_that_has_an_output_of_its_own_keeps_it():
    tree = build_tree(decode_native(answer="so", output={"chunks": ["x"]}))

    assert tree["output"] == {"chunks": ["x"]}


def test_a_native_message_of_an_id_alone_has_all_five_keys():
    tree = build_tree(decode_native())

    assert tree == {
        "input": None,
        "output": None,
        "metadata": {},
        "attributes": {},
        "spans": [],
        "trace_id": "t",
    }


def test_a_trace_of_spans_has_input_output_metadata_and_attributes_of_its_root():
    root = make_span(
        1,
        attributes={
            "input.value": '{"query": "why?"}',
            "output.value": "so",
            "metadata": '{"user": "u"}',
            "tag.tags": ["a"],
        },
        resource={"service.name": "shop"},
        scope_name="lib",
        scope_version="1",
    )
    child = make_span(
        2,
        1,
        attributes={"input.value": "other", "docs": '["{\\"text\\": \\"x\\"}"]', "number": float("nan")},
        events=(SpanEvent("e", 7, {"body": "[1]"}),),
    )

    tree = build_tree(make_whole(root, child))

    assert list(tree) == ["input", "output", "metadata", "attributes", "spans"]
    assert (tree["input"], tree["output"]) == ({"query": "why?"}, "so")
    assert tree["metadata"] == {"user": "u"}
    assert tree["attributes"]["tag.tags"] == ["a"]
    assert tree["spans"][1] == {
        "span_id": f"{2:016x}",
        "parent_span_id": f"{1:016x}",
        "name": "span 2",
        "start_ns": child.start_ns,
        "end_ns": child.end_ns,
        "attributes": {"input.value": "other", "docs": [{"text": "x"}], "number": None},
        "events": [{"name": "e", "time_ns": 7, "attributes": {"body": [1]}}],
        "resource": {},
        "scope": {"name": "", "version": ""},
    }
    assert tree["spans"][0]["resource"] == {"service.name": "shop"}
    assert tree["spans"][0]["scope"] == {"name": "lib", "version": "1"}


def test_below_a_root_of_another_library_the_first_span_that_has_some_gives_input_and_metadata():
    tree = build_tree(
        make_whole(
            make_span(1, attributes={"http.route": "/ask"}),
            make_span(2, 1, attributes={"input.value": "why?", "metadata": {"a": 1}}),
            make_span(3, 2, attributes={"input.value": "later", "metadata": {"b": 1}}),
        )
    )

    assert (tree["input"], tree["metadata"]) == ("why?", {"a": 1})
    assert tree["attributes"] == {"http.route": "/ask"}


@pytest.mark.parametrize(
    "attributes",
    [
        {"langfuse.trace.metadata": '{"retrievedContext": ["x"]}'},
        {"langfuse.trace.metadata.retrievedContext": '["x"]'},
        {"ai.telemetry.metadata.retrievedContext": ["x"]},
        {"traceloop.association.properties.retrievedContext": '["x"]'},
    ],
)
def test_what_any_span_says_of_the_trace_is_its_metadata(attributes):
    tree = build_tree(make_whole(make_span(1), make_span(2, 1, attributes=attributes)))

    assert tree["metadata"] == {"retrievedContext": ["x"]}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"inputs": {"q": 1}, "outputs": "o", "extra": {"metadata": {"m": 1}}}, ({"q": 1}, "o", {"m": 1})),
        ({"trace": {"input": '{"q": 1}', "output": 2, "metadata": "no object"}}, ({"q": 1}, 2, {})),
        (
            {"messages": [1], "response": {"choices": []}, "metadata": {"m": 1}},
            ([1], {"choices": []}, {"m": 1}),
        ),
        ({"answer": "a", "metadata": None}, (None, "a", {})),
    ],
)
def test_another_tools_document_has_its_own_keys_and_its_input_and_output(document, expected):
    tree = build_tree(ForeignDocument(format="other", document=document))

    assert (tree["input"], tree["output"], tree["metadata"]) == expected
    assert (tree["attributes"], tree["spans"]) == ({}, [])
    assert {key for key, value in document.items() if value is not None} <= set(tree)


def test_json_in_strings_in_json_in_strings_is_read_down_to_a_safe_depth():
    value = "end"
    for _ in range(8):
        value = json.dumps({"a": value})

    opened = build_tree(ForeignDocument(format="other", document={"deep": value}))["deep"]
    for _ in range(8):
        opened = opened["a"]

    assert opened == "end"


def test_lists_in_strings_in_lists_stay_strings_below_a_safe_depth():
    value = "end"
    for _ in range(4):
        value = "[" * 60 + json.dumps(value) + "]" * 60

    found = build_tree(ForeignDocument(format="other", document={"deep": value}))["deep"]
    levels = 0
    while isinstance(found, list):
        (found,) = found
        levels += 1

    assert levels == 120
    assert found.startswith("[[[")


def test_a_string_that_was_parsed_is_known_by_its_text():
    tree = read_tree(ForeignDocument(format="other", document={"a": ' {"b": [1]} ', "c": "[1", "d": [1]}))

    assert tree.root["a"] == {"b": [1]}
    assert tree.read_text(tree.root["a"]) == ' {"b": [1]} '
    assert tree.read_text(tree.root["c"]) == "[1"
    assert tree.read_text(tree.root["d"]) is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(['{"a":[]}', '"[1]"']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["metadata", "input.value", "langfuse.trace.metadata", "x"]), JSON))
def test_any_attributes_make_a_tree_that_json_can_hold(attributes):
    tree = build_tree(make_whole(make_span(1, attributes=attributes)))

    assert json.loads(json.dumps(tree, allow_nan=False)) == tree
    assert isinstance(tree["metadata"], dict)


FOUND = Findings(
    format="native",
    trace_id="t",
    app="shop",
    query="why?",
    turns=(Turn(role="user", content="hi"),),
    contexts=(
        FoundContext("a", ContextOrigin.RETRIEVER, id="1", score=0.5, metadata={"m": {"n": 1}}),
        FoundContext(None, ContextOrigin.RETRIEVER, id="2"),
    ),
    reference=Reference(answer="right", contexts=("c",)),
    tags=("x",),
)


def test_a_function_is_given_what_was_found_and_the_tree():
    trace = build_decoded_trace(FOUND, decode_native(metadata={"k": 1}, colour="red"))

    assert (trace.app, trace.environment, trace.user_id) == ("shop", "", None)
    assert (trace.query, trace.reference, trace.tags) == ("why?", "right", ("x",))
    assert trace.turns == (Turn(role="user", content="hi"),)
    assert trace.contexts == (
        Context(
            rank=0, content="a", id="1", score=0.5, metadata={"m": {"n": 1}}, origin=ContextOrigin.RETRIEVER
        ),
        Context(rank=1, content="", id="2", origin=ContextOrigin.RETRIEVER),
    )
    assert (trace.metadata, trace.attributes, trace.spans) == ({"k": 1}, {"colour": "red"}, ())


def test_what_a_function_does_to_its_values_reaches_nobody_else():
    record = decode_native(metadata={"k": [1]})
    trace = build_decoded_trace(FOUND, record)
    trace.metadata["k"].append(2)
    trace.contexts[0].metadata["m"]["n"] = 2

    again = build_decoded_trace(FOUND, record)

    assert again.metadata == {"k": [1]}
    assert again.contexts[0].metadata == {"m": {"n": 1}}
    assert record.message.metadata == {"k": [1]}


def test_a_message_whose_own_keys_have_odd_types_is_given_all_the_same():
    record = decode_native(spans="no list", attributes=[1])

    trace = build_decoded_trace(FOUND, record)

    assert (trace.spans, trace.attributes) == ((), {})
