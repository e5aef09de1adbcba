from __future__ import annotations

import json

import pytest
from hypothesis import given

from builders.hostile_attributes import build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.mlflow import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import Reference, Turn

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
DOCUMENT = {"page_content": "One.", "metadata": {"doc_uri": "faq.md", "score": 0.9}, "id": "faq-12"}
MESSAGES = [{"role": "system", "content": "S"}, {"role": "user", "content": QUESTION}]


def trace(span_id, parent=None, *, kind="CHAIN", inputs=None, outputs=None, attributes=None, **fields):
    """A span as MLflow writes it: every value, texts too, as JSON."""
    written = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}
    encoded = {name: json.dumps(value) for name, value in written.items() if value is not None}
    return make_span(span_id, parent, attributes=encoded | (attributes or {}), **fields)


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def read_facts(**attributes):
    facts = read_step(make_span(1, attributes=attributes)).facts
    return {name: fact.value for name, fact in facts.items()}


def assess(name, value, **fields):
    return {"assessment_name": name, "expectation": {"value": value}, **fields}


def test_a_span_without_mlflow_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"session.id": "s"})) is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ('"RETRIEVER"', StepKind.RETRIEVER),
        ("RETRIEVER", StepKind.RETRIEVER),
        ('"\\"RETRIEVER\\""', StepKind.RETRIEVER),
        ('"RERANKER"', StepKind.RERANKER),
        ('"TOOL"', StepKind.TOOL),
        ('"CHAT_MODEL"', StepKind.GENERATION),
        ('"LLM"', StepKind.GENERATION),
        ('"AGENT"', StepKind.OTHER),
        ('"EMBEDDING"', StepKind.OTHER),
        (["RETRIEVER"], StepKind.OTHER),
        (None, StepKind.OTHER),
    ],
)
def test_the_span_type_is_the_kind_however_often_it_is_encoded(stated, expected):
    assert expected is read_step(make_span(1, attributes={"mlflow.spanType": stated})).kind


@pytest.mark.parametrize("kind", ["RETRIEVER", "RERANKER", "TOOL"])
def test_retrievers_rerankers_and_tools_deliver_their_outputs(kind):
    step = read_step(trace(1, kind=kind, inputs={"query": QUESTION}, outputs=[DOCUMENT]))
    assert (Document("One.", "faq-12", 0.9, DOCUMENT["metadata"]),) == step.documents
    assert step.question.value == QUESTION


def test_outputs_may_be_plain_values():
    attributes = {"mlflow.spanType": "RETRIEVER", "mlflow.spanOutputs": [DOCUMENT]}
    assert read_step(make_span(1, attributes=attributes)).documents[0].content == "One."


@pytest.mark.parametrize(
    ("kind", "outputs", "expected"), [("RETRIEVER", [], ()), ("RETRIEVER", None, None), ("CHAIN", [], None)]
)
def test_nothing_retrieved_is_told_from_nothing_recorded(kind, outputs, expected):
    assert expected == read_step(trace(1, kind=kind, outputs=outputs)).documents


@pytest.mark.parametrize(
    "inputs",
    [
        {"question": QUESTION},
        {"messages": MESSAGES, "user": None},
        {"input": MESSAGES, "custom_inputs": {}},
        {"request": {"messages": MESSAGES}, "message": QUESTION},
        {"topic": QUESTION},
        QUESTION,
    ],
)
def test_a_question_is_found_in_what_functions_take(inputs):
    assert read_step(trace(1, inputs=inputs)).question.value == QUESTION


@pytest.mark.parametrize(
    "outputs",
    [
        ANSWER,
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
        {"messages": [{"role": "assistant", "content": ANSWER, "id": "1"}]},
        {
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
            ]
        },
        {"generations": [[{"text": ANSWER, "message": {"type": "ai", "content": ANSWER}}]], "llm_output": {}},
    ],
)
def test_an_answer_is_found_in_what_functions_return(outputs):
    assert read_step(trace(1, outputs=outputs)).answer.value == ANSWER


def test_the_request_of_the_trace_is_the_question_where_the_root_recorded_no_inputs():
    older = {
        "mlflow.data.request": json.dumps({"question": QUESTION}),
        "mlflow.data.response": json.dumps(ANSWER),
    }
    step = read_step(make_span(1, attributes=older))
    assert (step.question.value, step.answer.value) == (QUESTION, ANSWER)
    preview = {"mlflow.info.request_preview": QUESTION, "mlflow.info.response_preview": "A refund t..."}
    step = read_step(make_span(1, attributes=preview))
    assert (step.question.value, step.answer.value) == (QUESTION, None)


def test_a_model_call_names_model_tokens_and_turns():
    outputs = {"choices": [], "model": "mock-small", "usage": {"prompt_tokens": 88, "completion_tokens": 14}}
    step = read_step(
        trace(1, kind="CHAT_MODEL", inputs={"messages": MESSAGES, "model": "alias"}, outputs=outputs)
    )
    assert step.facts["model"].value == "mock-small"
    assert step.facts["usage"].value == {"prompt_tokens": 88, "completion_tokens": 14}
    assert (Turn(role="system", content="S"), Turn(role="user", content=QUESTION)) == step.turns


def test_mlflows_own_attributes_name_model_tokens_and_costs():
    attributes = {
        "mlflow.llm.model": '"mock-large"',
        "mlflow.chat.tokenUsage": '{"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}',
        "mlflow.llm.cost": '{"input_cost": 0.1, "output_cost": 0.2, "total_cost": 0.3}',
    }
    facts = read_step(trace(1, kind="LLM", outputs={"model": "mock-small"}, attributes=attributes)).facts
    assert facts["model"].value == "mock-large"
    assert facts["usage"].value == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    assert facts["cost_usd"].value == 0.3


def test_an_embeddings_model_is_no_model_of_the_answer():
    facts = read_step(trace(1, kind="EMBEDDING", attributes={"mlflow.llm.model": '"embedder"'})).facts
    assert "model" not in facts


def test_a_traces_metadata_and_tags_name_session_user_environment_and_release():
    expected = {
        "session_id": "sess-9",
        "user_id": "u-77",
        "app": "shop",
        "environment": "production",
        "release": "r1",
        "metadata": {"team": "search", "app": "shop", "env": "production", "release": "r1"},
    }
    assert expected == read_facts(
        **{
            "mlflow.info.trace_metadata": {
                "mlflow.trace.session": "sess-9",
                "mlflow.trace.user": "u-77",
                "mlflow.user": "root",
                "team": "search",
            },
            "mlflow.info.tags": {
                "app": "shop",
                "env": "production",
                "release": "r1",
                "mlflow.traceName": "rag",
            },
        }
    )


def test_by_otlp_the_root_carries_session_user_and_tags():
    facts = read_facts(
        **{
            "mlflow.spanType": '"CHAIN"',
            "session.id": "sess-9",
            "user.id": "u-77",
            "mlflow.traceTag.env": "production",
        }
    )
    assert [facts[name] for name in ("session_id", "user_id", "environment")] == [
        "sess-9",
        "u-77",
        "production",
    ]


def test_the_commit_is_the_release_where_no_tag_is():
    step = read_step(
        make_span(1, attributes={"mlflow.info.trace_metadata": {"mlflow.source.git.commit": "c0ffee"}})
    )
    assert (step.facts["release"].value, step.facts["release"].evidence.confidence) == ("c0ffee", "derived")


@pytest.mark.parametrize(
    ("assessments", "expected"),
    [
        ([assess("expected_response", "14 days.")], Reference(answer="14 days.")),
        ([assess("expected_facts", ["14 days", "refund"])], Reference(answer="14 days\nrefund")),
        ([assess("my_label", "14 days.")], Reference(answer="14 days.")),
        (
            [
                assess("expected_response", "14 days."),
                assess("expected_retrieved_context", [{"doc_uri": "faq.md"}, {"content": "One."}]),
            ],
            Reference(answer="14 days.", contexts=("One.",), context_ids=("faq.md",)),
        ),
        (
            [
                {
                    "assessment_name": "expected_response",
                    "expectation": {"serialized_value": {"value": '"14 days."'}},
                }
            ],
            Reference(answer="14 days."),
        ),
        ([assess("expected_response", "old", valid=False)], None),
        ([{"assessment_name": "relevance", "feedback": {"value": 1}}], None),
        ([{"expectation": {"value": "of no name"}}], None),
        ([assess("expected_response", None), assess("my_label", "14 days.")], Reference(answer="14 days.")),
        ("no list", None),
    ],
)
def test_expectations_are_the_reference(assessments, expected):
    assert expected == read_facts(**{"mlflow.info.assessments": assessments}).get("reference")


def test_the_reranker_and_not_the_retriever_reached_the_model():
    other = {"page_content": "Two.", "metadata": {}, "id": "faq-07"}
    findings = find_one(
        trace(1, kind="AGENT", inputs={"messages": MESSAGES}, outputs=ANSWER, start=0, end=9),
        trace(2, 1, kind="RETRIEVER", inputs={"query": QUESTION}, outputs=[DOCUMENT, other]),
        trace(3, 1, kind="RERANKER", outputs=[other]),
        trace(4, 1, kind="CHAT_MODEL", inputs={"messages": MESSAGES}, outputs={"choices": [], "model": "m"}),
    )
    assert [context.id for context in findings.contexts] == ["faq-07"]
    assert (findings.query, findings.answer, findings.model) == (QUESTION, ANSWER, "m")


@given(
    build_attributes(
        "mlflow.spanType",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "mlflow.chat.tokenUsage",
        "mlflow.llm.cost",
        "mlflow.llm.model",
        "mlflow.info.trace_metadata",
        "mlflow.info.tags",
        "mlflow.info.assessments",
        "mlflow.info.request_preview",
        "mlflow.traceTag.env",
        "session.id",
    )
)
def test_any_value_of_any_attribute_is_read(attributes):
    for kind in ('"RETRIEVER"', '"LLM"'):
        assert read_step(make_span(1, attributes={"mlflow.spanType": kind, **attributes})) is not None
