from __future__ import annotations

import json

import pytest
from hypothesis import given

from builders.hostile_attributes import build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.langfuse import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans, read_steps
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import ContextOrigin, Reference, Turn

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def observe(span_id, parent=None, *, kind="span", taken=None, returned=None, **fields):
    """A span as Langfuse's SDK writes it: texts as they are, anything else as JSON."""
    attributes = {"langfuse.environment": "production", "langfuse.observation.type": kind}
    for side, value in (("input", taken), ("output", returned)):
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            attributes[f"langfuse.observation.{side}"] = text
    return make_span(span_id, parent, attributes=attributes | fields.pop("attributes", {}), **fields)


def read(**attributes):
    return read_step(make_span(1, attributes=attributes))


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def test_a_span_without_langfuse_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"session.id": "s", "gen_ai.system": "x"})) is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("retriever", StepKind.RETRIEVER),
        ("RETRIEVER", StepKind.RETRIEVER),
        ("tool", StepKind.TOOL),
        ("generation", StepKind.GENERATION),
        ("span", StepKind.OTHER),
        ("agent", StepKind.OTHER),
        ("embedding", StepKind.OTHER),
        ({"an": "object"}, StepKind.OTHER),
        (None, StepKind.OTHER),
    ],
)
def test_the_type_of_an_observation_is_its_kind(stated, expected):
    assert expected == read(**{"langfuse.observation.type": stated}).kind


def test_a_retriever_called_reranker_is_one():
    assert read_step(observe(1, kind="retriever", name="cohere-rerank")).kind == StepKind.RERANKER


def test_a_retriever_delivers_the_documents_of_its_output():
    documents = [{"id": "a", "content": "One.", "score": 0.9}, {"page_content": "Two.", "metadata": {"p": 1}}]
    step = read_step(observe(1, kind="retriever", taken=QUESTION, returned=documents))
    assert (Document("One.", "a", 0.9), Document("Two.", metadata={"p": 1})) == step.documents
    assert step.question.value == QUESTION


def test_a_retriever_that_returned_nothing_is_told_from_one_that_recorded_nothing():
    assert read_step(observe(1, kind="retriever", returned=[])).documents == ()
    assert read_step(observe(1, kind="retriever")).documents is None


def test_what_a_retriever_of_the_level_error_returned_is_unknown():
    level = {"langfuse.observation.level": "ERROR"}
    failed = observe(2, 1, kind="retriever", returned="ConnectionError: refused", attributes=level)
    assert find_one(observe(1, taken=QUESTION, returned=ANSWER), failed).contexts is None
    model = failed._replace(attributes={**failed.attributes, "gen_ai.request.model": "m"})
    (step,) = read_steps([model])
    assert (step.is_error, step.documents) == (True, None)


def test_the_columns_of_a_chroma_query_are_documents():
    columns = {"ids": [["a", "b"]], "documents": [["One.", "Two."]], "metadatas": [[{"p": 1}, None]]}
    step = read_step(observe(1, kind="retriever", returned={**columns, "distances": [[0.1, 0.2]]}))
    assert (Document("One.", "a", metadata={"p": 1}), Document("Two.", "b")) == step.documents


def test_a_plain_span_that_returns_a_tool_message_is_a_tool():
    message = {"type": "tool", "name": "Search", "content": '[{"content": "One.", "id": "a"}]'}
    step = read_step(observe(1, returned=message))
    assert (StepKind.TOOL, (Document("One.", "a"),)) == (step.kind, step.documents)


def test_a_plain_span_that_returns_documents_is_no_tool():
    step = read_step(observe(1, returned=[{"content": "One."}]))
    assert (step.kind, step.documents) == (StepKind.OTHER, None)


def test_the_traces_own_input_and_output_go_before_the_observations():
    step = read(
        **{
            "langfuse.trace.input": QUESTION,
            "langfuse.trace.output": ANSWER,
            "langfuse.observation.input": "inner",
            "langfuse.observation.output": "inner",
        }
    )
    assert (step.question.value, step.answer.value) == (QUESTION, ANSWER)
    assert step.question.evidence.rule == "langfuse:trace.input"


@pytest.mark.parametrize(
    "taken",
    [
        QUESTION,
        {"args": [QUESTION], "kwargs": {}},
        {"args": [], "kwargs": {"question": QUESTION, "user_id": "u-77"}},
        {"args": [[{"role": "user", "content": QUESTION}]], "kwargs": {}},
        {"messages": [{"type": "human", "content": QUESTION}]},
        [
            {"role": "user", "content": "Hello"},
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        ],
        {"question": QUESTION, "chat_history": []},
    ],
)
def test_a_question_is_found_in_what_applications_record(taken):
    assert read_step(observe(1, taken=taken)).question.value == QUESTION


@pytest.mark.parametrize(
    "returned",
    [
        ANSWER,
        {"answer": ANSWER, "sources": ["faq"]},
        {"role": "assistant", "content": ANSWER},
        {"messages": [{"type": "human", "content": QUESTION}, {"type": "ai", "content": ANSWER}]},
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}]},
    ],
)
def test_an_answer_is_found_in_what_applications_record(returned):
    assert read_step(observe(1, returned=returned)).answer.value == ANSWER


@pytest.mark.parametrize(
    "returned",
    [
        {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]},
        [{"role": "assistant", "content": "Let me look.", "tool_calls": [TOOL_CALL]}],
        [{"toolCallId": "call_1", "toolName": "getWeather", "input": "{}"}],
        {"output": [{"type": "reasoning"}, {"type": "function_call", "name": "f", "arguments": "{}"}]},
    ],
)
def test_a_run_that_ends_in_a_tool_call_has_no_answer(returned):
    findings = find_one(
        observe(1, taken=QUESTION, returned=returned, start=0, end=9),
        observe(2, 1, kind="generation", taken=QUESTION, returned="An earlier step's text.", start=1, end=2),
    )
    assert findings.answer is None


def test_an_object_that_is_no_answer_is_none():
    assert read_step(observe(1, returned={"label": 3})).answer.value is None


@pytest.mark.parametrize("mark", ["langfuse.internal.is_app_root", "langfuse.internal.as_root"])
@pytest.mark.parametrize(("value", "expected"), [(True, True), ("true", True), (False, False), ({}, False)])
def test_an_app_root_is_the_entry(mark, value, expected):
    assert expected is read(**{mark: value}).is_entry


def test_an_app_root_below_a_web_request_gives_question_answer_and_metadata():
    findings = find_one(
        make_span(1, attributes={"http.method": "POST"}, start=0, end=20),
        observe(
            2,
            1,
            taken=QUESTION,
            returned=ANSWER,
            attributes={
                "langfuse.internal.is_app_root": True,
                "langfuse.observation.metadata.variant": '"b"',
                "langfuse.version": "v3",
            },
        ),
    )
    assert (findings.query, findings.answer, findings.release) == (QUESTION, ANSWER, "v3")
    assert findings.metadata == {"variant": "b"}


def test_the_traces_input_and_output_count_on_whichever_span_they_were_set():
    findings = find_one(
        observe(1, taken={"body": 1}, returned={"status": 200}, start=0, end=9),
        observe(2, 1, attributes={"langfuse.trace.input": QUESTION, "langfuse.trace.output": ANSWER}),
    )
    assert (findings.query, findings.answer) == (QUESTION, ANSWER)


def test_a_version_is_the_release_where_no_release_is_stated():
    release = read(**{"langfuse.version": "v3"}).facts["release"]
    assert (release.value, release.evidence.confidence) == ("v3", "derived")


def test_facts_stand_under_langfuses_names():
    facts = read(
        **{
            "langfuse.session.id": "sess-9",
            "langfuse.user.id": "u-77",
            "langfuse.environment": "production",
            "langfuse.release": "r1",
            "langfuse.version": "v3",
            "langfuse.observation.model.name": "mock-small",
            "langfuse.observation.usage_details": '{"input": 88, "output": 14, "cache_read": 3}',
            "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}',
            "langfuse.trace.tags": '["prod", 1]',
            "langfuse.trace.metadata.app": '"shop"',
            "langfuse.trace.metadata.number": "12",
            "langfuse.observation.prompt.name": "answer",
            "langfuse.observation.prompt.version": 4,
            "langfuse.experiment.item.expected_output": '{"answer": "14 days."}',
        }
    ).facts
    assert {
        "session_id": "sess-9",
        "user_id": "u-77",
        "environment": "production",
        "release": "r1",
        "model": "mock-small",
        "usage": {"prompt_tokens": 88, "completion_tokens": 14},
        "cost_usd": 0.75,
        "tags": ("prod",),
        "metadata": {"prompt": {"name": "answer", "version": 4}, "app": "shop", "number": "12"},
        "reference": Reference(answer="14 days."),
    } == {name: fact.value for name, fact in facts.items()}
    assert {"langfuse:session.id", "langfuse:user.id"} == {
        facts[name].evidence.rule for name in ("session_id", "user_id")
    }


def test_the_version_of_a_part_is_no_release():
    assert "release" not in read_step(observe(2, 1, attributes={"langfuse.version": "v3"})).facts


def test_a_generation_has_turns_and_a_plain_expected_output_is_the_reference():
    step = read_step(
        observe(
            1,
            kind="generation",
            taken=[{"role": "system", "content": "S"}, {"role": "user", "content": QUESTION}],
            attributes={"langfuse.experiment.item.expected_output": "14 days."},
        )
    )
    assert (Turn(role="system", content="S"), Turn(role="user", content=QUESTION)) == step.turns
    assert Reference(answer="14 days.") == step.facts["reference"].value


def test_what_a_tool_returned_before_the_last_generation_is_context():
    results = json.dumps({"results": [{"title": "FAQ", "content": "One.", "score": 0.8}]})
    findings = find_one(
        observe(1, taken=QUESTION, returned=ANSWER, start=0, end=9),
        observe(2, 1, kind="tool", taken={"query": "refund"}, returned=results, start=1, end=2),
        observe(3, 1, kind="generation", taken=QUESTION, returned=ANSWER, start=3, end=8),
    )
    assert [(context.content, context.score, context.origin) for context in findings.contexts] == [
        ("One.", 0.8, ContextOrigin.TOOL)
    ]


def test_the_exporters_attributes_on_a_foreign_span_leave_its_kind():
    findings = find_one(
        observe(1, taken=QUESTION, returned=ANSWER, start=0, end=9),
        make_span(
            2,
            1,
            kind="RETRIEVER",
            attributes={
                "langfuse.environment": "production",
                "retrieval.documents.0.document.content": "One.",
            },
        ),
    )
    assert [context.content for context in findings.contexts] == ["One."]


@given(
    build_attributes(
        "langfuse.observation.type",
        "langfuse.observation.input",
        "langfuse.observation.output",
        "langfuse.trace.input",
        "langfuse.trace.output",
        "langfuse.trace.metadata",
        "langfuse.trace.metadata.a",
        "langfuse.trace.tags",
        "langfuse.observation.usage_details",
        "langfuse.observation.cost_details",
        "langfuse.observation.model.name",
        "langfuse.experiment.item.expected_output",
        "langfuse.internal.is_app_root",
        "session.id",
    )
)
def test_any_value_of_any_attribute_is_read(attributes):
    step = read_step(make_span(1, attributes=attributes))
    assert (step is None) == (not any(name.startswith("langfuse.") for name in attributes))
