from __future__ import annotations

import json

import pytest
from hypothesis import given

from builders.hostile_attributes import VALUES, build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.traceloop import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.span import SpanEvent

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
NODE = json.dumps({"node": {"id_": "faq-12", "text": "One.", "metadata": {"source": "faq.md"}}, "score": 0.9})
BUNDLE = {"query_str": QUESTION, "image_path": None, "embedding": None}
AI_MESSAGE = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}


def enter(span_id, parent=None, *, kind="task", taken=None, returned=None, **fields):
    """An entity as Traceloop's instrumentations write it: input and output as JSON."""
    attributes = {"traceloop.span.kind": kind, "traceloop.entity.name": "entity"}
    for side, value in (("input", taken), ("output", returned)):
        if value is not None:
            attributes[f"traceloop.entity.{side}"] = json.dumps(value)
    return make_span(span_id, parent, attributes=attributes | fields.pop("attributes", {}), **fields)


def query(span_id, parent=None, *results, name="db.query.result", **fields):
    """A vector database's query: an event for each result."""
    events = [SpanEvent("db.query.embeddings", 0, {"db.query.embeddings.vector": "[0.1]"})]
    events += [
        SpanEvent(name, 0, {f"{name}.{key}": value for key, value in item.items()}) for item in results
    ]
    return make_span(span_id, parent, events=tuple(events), **fields)


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def test_a_span_without_traceloop_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"gen_ai.operation.name": "chat", "db.system": "x"})) is None


def test_langchains_retriever_delivers_the_documents_of_its_output():
    step = read_step(
        make_span(
            1,
            attributes={
                "gen_ai.operation.name": "vector_db_retrieve",
                "traceloop.span.kind": "task",
                "traceloop.entity.input": json.dumps({"query": QUESTION, "tags": ["a"], "metadata": {}}),
                "traceloop.entity.output": json.dumps(
                    {"documents": [{"page_content": "One.", "metadata": {"score": 0.9}}, "Two."], "count": 2}
                ),
            },
        )
    )
    assert step.kind is StepKind.RETRIEVER
    assert (Document("One.", None, 0.9, {"score": 0.9}), Document("Two.")) == step.documents
    assert step.question.value == QUESTION


def test_langchains_retriever_may_return_nothing():
    attributes = {
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.entity.output": '{"documents": [], "count": 0}',
    }
    assert read_step(make_span(1, attributes=attributes)).documents == ()


def test_a_task_that_returns_nodes_with_scores_is_a_retriever():
    step = read_step(enter(1, taken={"str_or_query_bundle": BUNDLE}, returned=[NODE]))
    assert (step.kind, step.question.value) == (StepKind.RETRIEVER, QUESTION)
    assert (Document("One.", "faq-12", 0.9, {"source": "faq.md"}),) == step.documents


def test_a_task_that_takes_nodes_and_returns_some_is_a_reranker():
    step = read_step(enter(1, taken={"nodes": [NODE, NODE], "query_bundle": BUNDLE}, returned=[NODE]))
    assert step.kind is StepKind.RERANKER


def test_a_task_that_was_asked_a_query_and_returned_an_empty_list_retrieved_nothing():
    step = read_step(enter(1, taken={"str_or_query_bundle": BUNDLE}, returned=[]))
    assert (step.kind, step.documents) == (StepKind.RETRIEVER, ())


@pytest.mark.parametrize("returned", [["a text", "another"], [[0.1, 0.2]], [], ["{}"], {"response": ANSWER}])
def test_other_tasks_that_return_lists_are_no_retrievers(returned):
    step = read_step(enter(1, taken={"text": "split me"}, returned=returned))
    assert (step.kind, step.documents) == (StepKind.OTHER, None)


def test_nested_retriever_tasks_count_once():
    findings = find_one(
        enter(
            1, kind="workflow", taken={"str_or_query_bundle": QUESTION}, returned={"response": ANSWER}, end=9
        ),
        enter(2, 1, taken={"str_or_query_bundle": BUNDLE}, returned=[NODE]),
        enter(3, 2, taken={"qb": BUNDLE}, returned=[NODE]),
    )
    assert [context.id for context in findings.contexts] == ["faq-12"]
    assert (findings.query, findings.answer) == (QUESTION, ANSWER)


def test_results_of_a_vector_database_are_documents_and_a_distance_is_no_score():
    step = read_step(
        query(
            1,
            None,
            {"id": "a", "distance": 0.3, "document": "One.", "metadata": '{"page": 1}'},
            {"id": "b", "score": 0.8, "metadata": '{"text": "Two."}'},
            {"id": "c", "score": "0.7", "metadata": "{'text': 'a representation'}"},
        )
    )
    assert step.kind is StepKind.RETRIEVER
    assert (
        Document("One.", "a", None, {"page": 1, "distance": 0.3}),
        Document("Two.", "b", 0.8, {"text": "Two."}),
        Document(None, "c", 0.7, {}),
    ) == step.documents


def test_results_of_a_vector_search_stand_in_its_entity():
    step = read_step(
        query(1, None, {"id": 7, "distance": "0.3", "entity": '{"text": "One."}'}, name="db.search.result")
    )
    assert (Document("One.", "7", None, {"text": "One.", "distance": "0.3"}),) == step.documents


def test_a_query_without_results_retrieved_nothing_unless_it_failed():
    assert read_step(query(1)).documents == ()
    assert read_step(query(1, is_error=True)).documents is None


def test_a_database_below_a_retriever_is_a_part_of_it():
    findings = find_one(
        enter(1, kind="workflow", taken={"inputs": QUESTION}, returned={"outputs": ANSWER}, end=9),
        enter(2, 1, taken={"query": QUESTION}, returned={"documents": [{"page_content": "One."}]}),
        query(3, 2, {"id": "a", "document": "One."}),
    )
    assert [context.content for context in findings.contexts] == ["One."]


@pytest.mark.parametrize(
    "taken",
    [
        {"inputs": QUESTION, "tags": [], "metadata": {"ls": "x"}, "kwargs": {"name": "RunnableSequence"}},
        {"inputs": {"input": QUESTION, "chat_history": []}, "kwargs": {"run_type": "chain"}},
        {"str_or_query_bundle": QUESTION},
        {"query_bundle": BUNDLE},
        {"args": [QUESTION, 3], "kwargs": {}},
        {"args": ["Assistant", QUESTION], "kwargs": {"k": 4}},
        {"args": ["<shop.Assistant object at 0x7f00>", QUESTION], "kwargs": {}},
        {"args": [], "kwargs": {"question": QUESTION}},
    ],
)
def test_a_question_is_found_in_what_entities_take(taken):
    assert read_step(enter(1, kind="workflow", taken=taken)).question.value == QUESTION


def test_settings_beside_inputs_are_no_question():
    taken = {"inputs": {}, "kwargs": {"thing": "RunnableSequence"}}
    assert read_step(enter(1, taken=taken)).question.value is None


@pytest.mark.parametrize(
    "returned",
    [
        ANSWER,
        {"outputs": ANSWER, "kwargs": {"tags": []}},
        {"outputs": {"answer": ANSWER, "context": []}, "kwargs": {}},
        {"response": ANSWER, "metadata": {}},
        {"outputs": {"messages": [AI_MESSAGE | {"kwargs": {"content": ANSWER, "type": "ai"}}]}},
    ],
)
def test_an_answer_is_found_in_what_entities_return(returned):
    assert read_step(enter(1, kind="workflow", returned=returned)).answer.value == ANSWER


def test_an_output_that_ends_in_a_tool_call_is_no_answer():
    call = {
        "content": "Let me look.",
        "tool_calls": [{"name": "search", "args": {}, "id": "1"}],
        "type": "ai",
    }
    step = read_step(enter(1, returned={"outputs": {"messages": [AI_MESSAGE | {"kwargs": call}]}}))
    assert step.answer.value == ""


def test_json_that_was_cut_is_neither_question_nor_answer_nor_document():
    cut = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.input": '{"inputs": "How lo',
        "traceloop.entity.output": '{"output": "A ref',
    }
    step = read_step(make_span(1, attributes=cut))
    assert (step.question.value, step.answer.value, step.documents) == (None, None, None)


def test_a_tool_delivers_its_output_without_the_callbacks_settings():
    returned = {"output": [{"id": "a", "text": "One."}], "kwargs": {"color": "green"}}
    step = read_step(enter(1, kind="tool", returned=returned))
    assert (StepKind.TOOL, (Document("One.", "a"),)) == (step.kind, step.documents)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"llm.request.type": "chat"}, StepKind.GENERATION),
        ({"llm.request.type": "completion"}, StepKind.GENERATION),
        ({"llm.request.type": "rerank"}, StepKind.RERANKER),
        ({"gen_ai.operation.name": "chat"}, StepKind.GENERATION),
        ({"gen_ai.operation.name": "text_completion"}, StepKind.GENERATION),
        ({"gen_ai.operation.name": "generate_content"}, StepKind.GENERATION),
        ({"gen_ai.operation.name": "execute_tool"}, StepKind.TOOL),
        ({"gen_ai.operation.name": "rerank"}, StepKind.RERANKER),
        ({"gen_ai.operation.name": "execute_task"}, StepKind.OTHER),
        ({"gen_ai.operation.name": ["chat"]}, StepKind.OTHER),
    ],
)
def test_the_operation_is_the_kind(attributes, expected):
    workflow = {"traceloop.workflow.name": "qa"}
    assert expected is read_step(make_span(1, attributes=workflow | attributes)).kind


def test_association_properties_name_session_and_user():
    facts = read_step(
        make_span(
            1,
            attributes={
                "traceloop.association.properties.session_id": "sess-9",
                "traceloop.association.properties.user_id": 77,
                "traceloop.association.properties.thread_id": "t",
                "traceloop.workflow.name": "qa",
            },
        )
    ).facts
    assert (facts["session_id"].value, facts["user_id"].value) == ("sess-9", "77")
    assert facts["metadata"].value == {
        "session_id": "sess-9",
        "user_id": 77,
        "thread_id": "t",
        "workflow": "qa",
    }


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("thread_id", "session_id"),
        ("sessionId", "session_id"),
        ("conversation_id", "session_id"),
        ("chat_id", "session_id"),
        ("userId", "user_id"),
    ],
)
def test_other_names_of_session_and_user_hold_where_theirs_are_missing(name, field):
    attributes = {f"traceloop.association.properties.{name}": "t"}
    fact = read_step(make_span(1, attributes=attributes)).facts[field]
    assert (fact.value, fact.evidence.confidence) == ("t", "derived")


def test_a_model_called_unknown_is_none():
    attributes = {
        "traceloop.span.kind": "task",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "unknown",
    }
    assert find_one(make_span(1, attributes=attributes)).model is None


def test_what_a_prompts_template_was_filled_with_is_prompted():
    attributes = {"traceloop.prompt.template_variables.context": '["One.", "Two."]'}
    assert read_step(make_span(1, attributes=attributes)).prompted == ("One.", "Two.")


@pytest.mark.parametrize("variables", [{"question": "How long?"}, {"context": ""}, {"context": []}])
def test_other_variables_of_a_template_are_not_prompted(variables):
    attributes = {f"traceloop.prompt.template_variables.{name}": value for name, value in variables.items()}
    assert read_step(make_span(1, attributes=attributes)).prompted == ()


@given(
    build_attributes(
        "traceloop.entity.input",
        "traceloop.entity.output",
        "traceloop.span.kind",
        "traceloop.workflow.name",
        "traceloop.association.properties.session_id",
        "traceloop.association.properties",
        "traceloop.prompt.template_variables.context",
        "gen_ai.operation.name",
        "llm.request.type",
    ),
    VALUES,
)
def test_any_value_of_any_attribute_is_read(attributes, value):
    events = tuple(
        SpanEvent(
            name, 0, {f"{name}.{key}": value for key in ("id", "metadata", "entity", "document", "score")}
        )
        for name in ("db.query.result", "db.search.result")
    )
    assert read_step(make_span(1, attributes=attributes, events=events)) is not None
    read_step(make_span(1, attributes=attributes))
