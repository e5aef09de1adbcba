from __future__ import annotations

import pytest
from hypothesis import given

from builders.hostile_attributes import build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.datadog import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import Reference, Turn

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
DOCUMENTS = [{"text": "One.", "name": "faq.md", "score": 0.91, "id": "faq-12"}]


def send(span_id, parent=None, *, kind, taken=None, returned=None, attributes=None, **fields):
    """A span as decoding leaves it."""
    stated = {"datadog.kind": kind, "datadog.input": taken, "datadog.output": returned}
    known = {name: value for name, value in stated.items() if value is not None}
    return make_span(span_id, parent, attributes=known | (attributes or {}), **fields)


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def read_facts(attributes, *, kind="llm", resource=None):
    facts = read_step(send(1, kind=kind, attributes=attributes, resource=resource or {})).facts
    return {name: fact.value for name, fact in facts.items()}


def test_a_span_without_datadogs_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"session.id": "s"})) is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("retrieval", StepKind.RETRIEVER),
        ("llm", StepKind.GENERATION),
        ("tool", StepKind.TOOL),
        ("agent", StepKind.OTHER),
        ("workflow", StepKind.OTHER),
        ("embedding", StepKind.OTHER),
        ("task", StepKind.OTHER),
        ({"kind": "llm"}, StepKind.OTHER),
    ],
)
def test_the_kind_of_a_span_is_the_kind_of_the_step(stated, expected):
    assert expected is read_step(send(1, kind=stated)).kind


def test_a_retrieval_delivers_its_documents():
    step = read_step(send(1, kind="retrieval", taken={"value": QUESTION}, returned={"documents": DOCUMENTS}))
    assert (Document("One.", "faq-12", 0.91),) == step.documents
    assert step.question.value == QUESTION


def test_a_retrieval_called_rerank_is_a_reranker():
    step = read_step(send(1, kind="retrieval", name="rerank", returned={"documents": DOCUMENTS}))
    assert step.kind is StepKind.RERANKER


@pytest.mark.parametrize(("returned", "expected"), [({"documents": []}, ()), ({}, None), (None, None)])
def test_nothing_retrieved_is_told_from_nothing_recorded(returned, expected):
    assert expected == read_step(send(1, kind="retrieval", returned=returned)).documents


@pytest.mark.parametrize("returned", [{"value": '[{"text": "One."}]'}, '[{"text": "One."}]'])
def test_a_tool_delivers_its_value(returned):
    assert (Document("One."),) == read_step(send(1, kind="tool", returned=returned)).documents


def test_messages_are_turns_question_and_answer():
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": QUESTION}]
    step = read_step(
        send(
            1,
            kind="llm",
            taken={"messages": messages},
            returned={"messages": [{"role": "assistant", "content": ANSWER}]},
        )
    )
    assert (Turn(role="system", content="S"), Turn(role="user", content=QUESTION)) == step.turns
    assert (step.question.value, step.answer.value) == (QUESTION, ANSWER)


def test_a_call_that_ends_in_a_tool_call_has_no_answer():
    message = {"role": "assistant", "content": "", "tool_calls": [{"name": "search", "arguments": {}}]}
    assert read_step(send(1, kind="llm", returned={"messages": [message]})).answer.value == ""


def test_tags_and_the_message_name_whose_trace_it_is():
    expected = {
        "app": "shop",
        "session_id": "sess-9",
        "user_id": "u-77",
        "environment": "production",
        "release": "r1",
    }
    tags = {"datadog.tags.env": "production", "datadog.tags.version": "r1", "datadog.tags.user_id": "u-77"}
    resource = {"datadog.ml_app": "shop", "datadog.session_id": "sess-9"}
    assert expected == read_facts(tags, kind="workflow", resource=resource)


def test_names_that_the_sdk_writes_for_none_are_none():
    names = {
        "datadog.ml_app": "unnamed-ml-app",
        "datadog.tags.version": "",
        "datadog.model_name": "unknown",
    }
    assert read_facts(names) == {}


def test_a_model_call_names_model_tokens_and_costs():
    expected = {
        "model": "mock-small",
        "usage": {"prompt_tokens": 88, "completion_tokens": 14, "total_tokens": 102},
        "cost_usd": 0.75,
        "metadata": {"temperature": 0},
        "reference": Reference(answer="14 days."),
    }
    assert expected == read_facts(
        {
            "datadog.model_name": "mock-small",
            "datadog.metrics.input_tokens": 88,
            "datadog.metrics.output_tokens": 14,
            "datadog.metrics.total_tokens": 102,
            "datadog.metrics.input_cost": 0.25,
            "datadog.metrics.output_cost": 0.5,
            "datadog.metadata": {"temperature": 0},
            "datadog.expected_output": "14 days.",
        }
    )


def test_the_spans_of_a_trace_give_one_record():
    findings = find_one(
        send(1, kind="workflow", taken={"value": QUESTION}, returned={"value": ANSWER}, start=0, end=9),
        send(2, 1, kind="retrieval", taken={"value": "refund duration"}, returned={"documents": DOCUMENTS}),
    )
    assert (
        findings.query,
        findings.retrieval_query,
        findings.answer,
    ) == (QUESTION, "refund duration", ANSWER)
    assert [context.id for context in findings.contexts] == ["faq-12"]


@given(
    build_attributes(
        "datadog.kind",
        "datadog.input",
        "datadog.output",
        "datadog.metadata",
        "datadog.ml_app",
        "datadog.session_id",
        "datadog.tags.env",
        "datadog.metrics.input_tokens",
        "datadog.metrics.total_cost",
        "datadog.model_name",
        "datadog.expected_output",
    )
)
def test_any_value_of_any_attribute_is_read(attributes):
    for kind in ("retrieval", "llm", "tool"):
        assert read_step(make_span(1, attributes={"datadog.kind": kind, **attributes})) is not None
