from __future__ import annotations

import json

import pytest
from hypothesis import given

from builders.hostile_attributes import build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.vercel import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.steps import StepKind

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
DOCUMENTS = [{"id": "faq-12", "text": "One.", "score": 0.91}]
USER = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
CALL = {"type": "tool-call", "toolCallId": "c1", "toolName": "search", "input": {"query": "refund"}}


def call(span_id, parent=None, *, operation="ai.generateText", **fields):
    """A span of the AI SDK; its attributes follow `ai.`, objects as JSON."""
    resource = fields.pop("resource", {})
    start, end = fields.pop("start", span_id), fields.pop("end", span_id + 1)
    attributes = {"ai.operationId": operation, "operation.name": f"{operation} chat-route"}
    for name, value in fields.items():
        text = json.dumps(value) if isinstance(value, dict | list) else value
        attributes[f"ai.{name.replace('__', '.')}"] = text
    return make_span(span_id, parent, attributes=attributes, resource=resource, start=start, end=end)


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def test_a_span_without_the_sdks_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"ai.observability.span_type": "retrieval"})) is None


@pytest.mark.parametrize(
    "name",
    [
        "ai.operationId",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.text",
        "ai.response.object",
        "ai.result.text",
        "ai.settings.context.userId",
        "ai.telemetry.functionId",
        "ai.toolCall.id",
    ],
)
def test_each_of_the_sdks_own_attributes_makes_a_step(name):
    assert read_step(make_span(1, attributes={name: "x"})).convention == "vercel"


@pytest.mark.parametrize(
    "prompt",
    [
        {"prompt": QUESTION},
        {"system": "Answer from the documents only.", "prompt": QUESTION},
        {"system": "S", "messages": [{"role": "user", "content": "Hi"}, USER]},
        {"system": "S", "prompt": [USER]},
    ],
)
def test_the_question_stands_in_the_roots_prompt(prompt):
    assert read_step(call(1, prompt=prompt)).question.value == QUESTION


def test_a_system_prompt_is_no_question():
    image = {"role": "user", "content": [{"type": "image", "image": "..."}]}
    assert read_step(call(1, prompt={"system": "S", "messages": [image]})).question.value is None


def test_the_last_user_message_of_the_messages_is_the_question():
    assert (
        read_step(call(1, prompt__messages=[{"role": "system", "content": "S"}, USER])).question.value
        == QUESTION
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("response__text", ANSWER, ANSWER),
        ("result__text", ANSWER, ANSWER),
        ("response__object", '{"answer": "14 days"}', '{"answer": "14 days"}'),
        ("result__object", '{"answer": "14 days"}', '{"answer": "14 days"}'),
        ("response__text", "", None),
        ("response__text", 7, None),
    ],
)
def test_the_answer_is_what_was_generated(name, value, expected):
    assert expected == read_step(call(1, **{name: value})).answer.value


def test_a_text_that_is_json_stays_the_answer():
    assert read_step(call(1, response__text='"quoted"')).answer.value == '"quoted"'


@pytest.mark.parametrize(
    "attributes",
    [
        {"response__finishReason": "tool-calls", "response__text": "Let me look."},
        {"finishReason": "tool-calls", "result__text": "Let me look."},
        {"response__toolCalls": [CALL]},
    ],
)
def test_a_run_that_ends_in_a_tool_call_has_no_answer(attributes):
    findings = find_one(
        call(1, prompt={"prompt": QUESTION}, start=0, end=9, **attributes),
        call(2, 1, operation="ai.generateText.doGenerate", response__text="An earlier text."),
    )
    assert (findings.query, findings.answer) == (QUESTION, None)


@pytest.mark.parametrize("run", ["generateText", "generateObject"])
def test_the_inner_calls_of_a_run_are_generations(run):
    assert read_step(call(1, operation=f"ai.{run}.doGenerate")).kind is StepKind.GENERATION
    assert read_step(call(1, operation=f"ai.{run}")).kind is StepKind.OTHER


@pytest.mark.parametrize("run", ["streamText", "streamObject"])
def test_the_inner_streams_of_a_run_are_generations(run):
    assert read_step(call(1, operation=f"ai.{run}.doStream")).kind is StepKind.GENERATION


def test_an_operation_is_known_by_its_name_where_there_is_no_id():
    attributes = {"operation.name": "ai.toolCall chat-route", "ai.toolCall.result": "[]"}
    assert read_step(make_span(1, attributes=attributes)).kind is StepKind.TOOL
    assert (
        read_step(make_span(1, name="ai.toolCall", attributes={"ai.toolCall.id": "c"})).kind is StepKind.TOOL
    )


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (DOCUMENTS, (Document("One.", "faq-12", 0.91),)),
        ({"results": DOCUMENTS}, (Document("One.", "faq-12", 0.91),)),
        (json.dumps(json.dumps(DOCUMENTS)), (Document("One.", "faq-12", 0.91),)),
        ('"One."', (Document("One."),)),
        ({"content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]}, None),
        ([], ()),
        (None, None),
    ],
)
def test_a_tool_call_delivers_its_result(result, expected):
    documents = read_step(call(1, operation="ai.toolCall", toolCall__result=result)).documents
    if expected is None and result is not None:
        assert [document.content for document in documents] == ["One.", "Two."]
    else:
        assert expected == documents


def test_a_run_with_tools_gives_contexts_turns_and_the_tokens_of_its_calls():
    usage = {"usage__inputTokens": 10, "usage__outputTokens": 2}
    results = [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "json", "value": DOCUMENTS}}]
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}, USER]
    root = {"prompt": {"messages": history}, "response__text": ANSWER}
    findings = find_one(
        call(1, operation="ai.streamText", start=0, end=9, **root, **usage),
        call(
            2,
            1,
            operation="ai.streamText.doStream",
            prompt__messages=history,
            response__toolCalls=[CALL],
            **usage,
        ),
        call(4, 1, operation="ai.toolCall", toolCall__result=DOCUMENTS),
        call(
            6,
            1,
            operation="ai.streamText.doStream",
            prompt__messages=[
                *history,
                {"role": "assistant", "content": [CALL]},
                {"role": "tool", "content": results},
            ],
            response__text=ANSWER,
            response__model="mock-small-2026",
            model__id="mock-small",
            **usage,
        ),
    )
    assert (findings.query, findings.answer, findings.model) == (QUESTION, ANSWER, "mock-small-2026")
    assert [context.id for context in findings.contexts] == ["faq-12"]
    assert [(turn.role, turn.content) for turn in findings.turns] == [("user", "Hello"), ("assistant", "Hi!")]
    assert findings.usage == {"prompt_tokens": 20, "completion_tokens": 4}


def test_telemetry_metadata_names_session_user_release_environment_and_tags():
    facts = read_step(
        make_span(
            1,
            attributes={
                "ai.telemetry.metadata.sessionId": "sess-9",
                "ai.telemetry.metadata.userId": "u-77",
                "ai.telemetry.metadata.release": "r1",
                "ai.telemetry.metadata.environment": "production",
                "ai.telemetry.metadata.tags": ["a", "b"],
                "ai.telemetry.metadata.tenant": "acme",
            },
        )
    ).facts
    assert [facts[name].value for name in ("session_id", "user_id", "release", "environment", "tags")] == [
        "sess-9",
        "u-77",
        "r1",
        "production",
        ("a", "b"),
    ]
    assert facts["metadata"].value["tenant"] == "acme"


def test_the_functions_id_is_the_app_where_no_service_is_named():
    attributes = {"telemetry__functionId": "chat-route", "prompt": {"prompt": QUESTION}}
    named = call(1, resource={"service.name": "shop"}, **attributes)
    unnamed = call(1, resource={"service.name": "unknown_service:node"}, **attributes)
    assert (find_one(named).app, find_one(unnamed).app) == ("shop", "chat-route")


def test_a_reranker_delivers_the_ranked_documents_with_their_relevance():
    step = read_step(
        call(
            1,
            operation="ai.rerank.doRerank",
            documents=['"zero"', '{"id": "b", "text": "one"}', '"two"'],
            ranking=[
                '{"index": 1, "relevanceScore": 0.9}',
                '{"index": 0, "relevanceScore": 0.2}',
                '{"index": 9}',
            ],
        )
    )
    assert step.kind is StepKind.RERANKER
    assert (Document("one", "b", 0.9), Document("zero", None, 0.2)) == step.documents


def test_a_rerank_that_recorded_only_what_it_was_given_delivers_nothing():
    step = read_step(call(1, operation="ai.rerank", documents=['"zero"'], telemetry__functionId="f"))
    assert (step.kind, step.documents) == (StepKind.OTHER, None)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("chatId", "session_id"),
        ("threadId", "session_id"),
        ("conversationId", "session_id"),
        ("env", "environment"),
        ("version", "release"),
    ],
)
def test_other_names_in_the_metadata_hold_where_the_usual_ones_are_missing(name, field):
    fact = read_step(make_span(1, attributes={f"ai.telemetry.metadata.{name}": "t"})).facts[field]
    assert (fact.value, fact.evidence.confidence) == ("t", "derived")


def test_the_runtime_context_of_version_7_names_session_and_user_too():
    attributes = {"ai.settings.context.userId": "u-77", "ai.settings.context.sessionId": "sess-9"}
    facts = read_step(make_span(1, attributes=attributes)).facts
    assert (facts["user_id"].value, facts["session_id"].value) == ("u-77", "sess-9")


def test_an_object_that_is_no_string_is_answered_as_json():
    attributes = {"ai.operationId": "ai.generateObject", "ai.response.object": {"answer": "14 days"}}
    assert read_step(make_span(1, attributes=attributes)).answer.value == '{"answer": "14 days"}'


def test_an_embedding_has_no_model_of_an_answer():
    step = read_step(
        call(1, operation="ai.embed", model__id="embedder", value='"text"', telemetry__functionId="f")
    )
    assert (step.kind, step.question.value, "model" in step.facts) == (StepKind.OTHER, None, False)


def test_version_7_is_read_by_its_gen_ai_attributes_alone():
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "ai.response.providerMetadata": "{}",
        "ai.usage.inputTokenDetails.noCacheTokens": 10,
    }
    assert read_step(make_span(1, attributes=attributes, scope_name="@ai-sdk/otel")) is None


@given(
    build_attributes(
        "ai.operationId",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.text",
        "ai.response.object",
        "ai.response.toolCalls",
        "ai.response.finishReason",
        "ai.toolCall.result",
        "ai.toolCall.args",
        "ai.ranking",
        "ai.documents",
        "ai.usage.promptTokens",
        "ai.model.id",
        "ai.telemetry.functionId",
        "ai.telemetry.metadata.userId",
        "ai.telemetry.metadata.tags",
    )
)
def test_any_value_of_any_attribute_is_read(attributes):
    for operation in ("ai.toolCall", "ai.generateText", "ai.generateText.doGenerate", "ai.rerank.doRerank"):
        read_step(make_span(1, attributes={"ai.operationId": operation, **attributes}))
