"""One trace has one id, however its exporters write it."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap_json
from builders.foreign_documents import find_all
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import ParkReason

HEX = "0123456789abcdef"
TRACE_IDS = st.text(HEX, min_size=32, max_size=32).filter(lambda text: text.strip("0"))
SPAN_IDS = st.text(HEX, min_size=16, max_size=16).filter(lambda text: text.strip("0"))


def mix_case(text, order):
    return "".join(order.choice((letter.upper(), letter)) for letter in text)


def write_otlp(trace_id, span_id, parent_id):
    span = {"traceId": trace_id, "spanId": span_id, "parentSpanId": parent_id}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def write_datadog(trace_id, span_id, parent_id):
    span = {"trace_id": trace_id, "span_id": span_id, "parent_id": parent_id, "meta": {}}
    return {"ml_app": "a", "spans": [span]}


def write_mlflow(trace_id, span_id, parent_id):
    return {
        "info": {"trace_id": trace_id},
        "data": {"spans": [{"span_id": f"0x{span_id}", "parent_id": f"0X{parent_id}"}]},
    }


def write_mlflow_without_name(trace_id, span_id, parent_id):
    context = {"trace_id": f"0X{trace_id}", "span_id": span_id}
    return {"info": {"experiment_id": "0"}, "data": {"spans": [{"context": context, "parent_id": parent_id}]}}


def write_trulens(trace_id, span_id, parent_id):
    return {
        "record_attributes": {},
        "trace": {"trace_id": trace_id, "span_id": span_id, "parent_id": parent_id},
    }


def read_ids(value):
    decoded = decode(wrap_json(value))
    span = decoded.spans[0] if decoded.spans else decoded.records[0].root
    return span[:3]


@pytest.mark.parametrize(
    "write", [write_otlp, write_datadog, write_mlflow, write_mlflow_without_name, write_trulens]
)
@given(TRACE_IDS, SPAN_IDS, SPAN_IDS, st.randoms(use_true_random=False))
def test_hex_in_any_case_is_one_id(write, trace_id, span_id, parent_id, order):
    ids = (trace_id, span_id, parent_id)
    if write is write_trulens:  # its own ids are decimal
        ids = tuple(f"a{text[1:]}" for text in ids)
    assert ids == read_ids(write(*(mix_case(text, order) for text in ids)))


@given(TRACE_IDS, SPAN_IDS, SPAN_IDS)
def test_base64_is_the_same_id_as_hex(trace_id, span_id, parent_id):
    ids = (trace_id, span_id, parent_id)
    assert ids == read_ids(write_otlp(*(base64.b64encode(bytes.fromhex(text)).decode() for text in ids)))


@pytest.mark.parametrize("name", ["tr-ABC", "ABCDEF", "Z" * 32, "ABCDEF0123456789-"])
def test_names_that_are_no_hex_of_that_length_stay_as_they_came(name):
    assert read_ids(write_datadog(name, "1", None))[0] == name


@pytest.mark.parametrize(
    "value",
    [
        {"query": "q", "contexts": []},
        write_otlp(None, "a" * 16, None),
        write_datadog(None, "1", None),
        write_trulens(None, "1", None),
        {"info": {"experiment_id": "0"}, "data": {"spans": [{"span_id": "1"}]}},
    ],
)
def test_messages_and_spans_that_name_no_trace_are_refused(value):
    assert find_refusal(decode, wrap_json(value)).reason is ParkReason.BAD_TRACE_ID


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "chain", "name": "r", "inputs": {"input": "q"}},
        {"source_nodes": [], "response": "a"},
        {"retriever": {"documents": []}, "llm": {"replies": ["a"]}},
    ],
)
def test_documents_of_other_tools_that_name_no_trace_get_their_contents_hash(value):
    (first,), (second,) = (find_all(value), find_all(value))
    assert re.fullmatch("[0-9a-f]{32}", first.trace_id)
    assert first.trace_id == second.trace_id
    assert first.warnings == ("trace_id_derived",)
