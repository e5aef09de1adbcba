import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.spans import make_span, make_whole
from ragsonde.extraction.findings import Findings
from ragsonde.extraction.options import RetrievalChoice, RetrievalOptions
from ragsonde.extraction.span_findings import find_in_spans, read_steps
from ragsonde_schemas.span import SpanEvent

QUESTION = "How long does a refund take?"
ANSWER = "14 days."
GENAI_ROOT = {"gen_ai.operation.name": "invoke_agent"}

NAMES = [
    "openinference.span.kind",
    "input.value",
    "output.value",
    "metadata",
    "tag.tags",
    "session.id",
    "user.id",
    "llm.model_name",
    "llm.token_count.prompt",
    "llm.cost.total",
    "llm.prompt_template.variables",
    "reranker.query",
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.content",
    "llm.output_messages.0.message.contents.0.message_content.text",
    "retrieval.documents.0.document.content",
    "retrieval.documents.0.document.metadata",
    "reranker.output_documents.7.document.id",
    "gen_ai.operation.name",
    "gen_ai.retrieval.documents",
    "gen_ai.retrieval.query.text",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.result",
    "gen_ai.memory.records",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.prompt.0.content",
    "gen_ai.completion.0.role",
    "gen_ai.completion.0.content",
    "gen_ai.usage.input_tokens",
    "gen_ai.response.model",
    "gen_ai.conversation.id",
    "gen_ai.usage.cost",
    "ragsonde.sampling_probability",
    "content",
    "message",
    "gen_ai.event.content",
    "role",
    "service.name",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "ai.toolCall.result",
    "mlflow.spanOutputs",
    "ai.observability.record_root.output",
]
EVENTS = [
    "gen_ai.client.inference.operation.details",
    "gen_ai.user.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
    "db.query.result",
    "other",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(
        [
            QUESTION,
            "",
            " ",
            "RETRIEVER",
            "LLM",
            "TOOL",
            "RERANKER",
            "CHAIN",
            "chat",
            "retrieval",
            "execute_tool",
        ]
    ),
    st.sampled_from(
        ["user", "assistant", "tool", "text", "tool_call", "tool_call_response", "user: hi", "{", "["]
    ),
    st.text(max_size=5),
)
KEYS = st.sampled_from(
    [
        "content",
        "role",
        "type",
        "parts",
        "text",
        "result",
        "response",
        "messages",
        "message",
        "data",
        "kwargs",
        "id",
        "lc",
        "documents",
        "score",
        "metadata",
        "node",
        "query",
        "input",
        "output",
        "tool_calls",
        "finish_reason",
        "value",
        "page_content",
    ]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=4),
        inner.map(json.dumps),
    ),
    max_leaves=8,
)
ATTRIBUTES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)


def find(*spans, **options):
    return find_in_spans(make_whole(*spans), options=RetrievalOptions(**options))


def test_spans_that_no_convention_knows_are_no_trace_of_a_rag_application():
    http = {"http.request.method": "GET", "user.id": "u", "input": "x", "db.system": "postgresql"}
    assert find(make_span(1, attributes=http), make_span(2, 1)) == ()


def test_a_convention_and_another_one_on_the_same_span_are_read_together():
    attributes = {
        "input.value": QUESTION,
        "gen_ai.conversation.id": "s",
        "gen_ai.response.model": "m",
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
        ),
    }
    (found,) = find(make_span(1, kind="LLM", attributes=attributes))
    assert (found.query, found.answer, found.session_id, found.model) == (QUESTION, ANSWER, "s", "m")
    assert found.evidence["query"].rule == "openinference:root_input"


def test_a_later_convention_tells_the_kind_that_the_first_one_leaves_open():
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": ["a"]}
    (step,) = read_steps([make_span(1, kind="CHAIN", attributes=attributes)])
    assert (step.kind, step.convention) == ("retriever", "genai")
    assert [document.content for document in step.documents] == ["a"]


def test_the_first_convention_decides_where_both_say_something():
    attributes = {
        "retrieval.documents.0.document.content": "own",
        "gen_ai.operation.name": "chat",
        "gen_ai.retrieval.documents": ["other"],
        "session.id": "own",
        "gen_ai.conversation.id": "other",
    }
    (found,) = find(make_span(1, kind="RETRIEVER", attributes=attributes))
    assert [context.content for context in found.contexts] == ["own"]
    assert found.session_id == "own"


def test_spans_of_a_web_framework_between_two_steps_keep_them_together():
    outer = make_span(
        2, 1, kind="RETRIEVER", attributes={"retrieval.documents.0.document.content": "a"}, start=2
    )
    inner = make_span(
        4, 3, kind="RETRIEVER", attributes={"retrieval.documents.0.document.content": "b"}, start=4
    )
    (found,) = find(make_span(1, kind="CHAIN"), outer, make_span(3, 2), inner)
    assert [context.content for context in found.contexts] == ["a"]


def test_session_and_user_of_a_plain_span_count():
    (found,) = find(make_span(1, attributes={"user.id": "u", "session.id": "s"}), make_span(2, 1, kind="LLM"))
    assert (found.user_id, found.session_id) == ("u", "s")
    assert found.evidence["user_id"].rule == "span:user.id"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.25, 0.25), ("0.5", 0.5), (1, 1.0), (0, 1.0), (1.5, 1.0), (-1, 1.0), (True, 1.0), ({}, 1.0)],
)
def test_an_earlier_samplers_probability_is_read_from_any_span(value, expected):
    spans = (make_span(1, kind="CHAIN"), make_span(2, 1, attributes={"ragsonde.sampling_probability": value}))
    (found,) = find(*spans)
    assert expected == found.sampling_probability


def test_the_roots_resource_names_the_app_and_others_where_it_does_not():
    root = make_span(1, resource={"service.name": "gateway"})
    inner = make_span(
        2, 1, kind="LLM", resource={"service.name": "shop", "deployment.environment.name": "production"}
    )
    (found,) = find(root, inner)
    assert (found.app, found.environment) == ("gateway", "production")
    (found,) = find(root._replace(resource={"service.name": "unknown_service:node"}), inner)
    assert found.app == "shop"


def test_what_a_convention_says_plainly_goes_before_the_resource_and_what_it_derives_after():
    resource = {"service.name": "shop", "service.version": "1", "deployment.environment": "staging"}
    derived = {"gen_ai.agent.version": "9", "gen_ai.environment": "other", "gen_ai.application_name": "other"}
    (found,) = find(make_span(1, attributes={**GENAI_ROOT, **derived}, resource=resource))
    assert (found.app, found.release, found.environment) == ("shop", "1", "staging")
    (found,) = find(make_span(1, attributes={**GENAI_ROOT, **derived}))
    assert (found.app, found.release, found.environment) == ("other", "9", "other")
    stated = {"langfuse.environment": "production", "langfuse.observation.type": "span"}
    (found,) = find(make_span(1, attributes=stated, resource=resource))
    assert found.environment == "production"


def test_the_record_keeps_its_key_its_warnings_and_its_format():
    whole = dataclasses.replace(
        make_whole(make_span(1, kind="CHAIN")), record_key="0000000000000007", warnings=("mended",)
    )
    (found,) = find_in_spans(whole)
    assert (found.record_key, found.warnings, found.format) == (
        "0000000000000007",
        ("mended",),
        "otlp_protobuf",
    )


@given(
    st.lists(
        st.tuples(
            ATTRIBUTES,
            st.none() | st.integers(1, 5),
            st.lists(st.tuples(st.sampled_from(EVENTS), ATTRIBUTES), max_size=2),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(RetrievalChoice),
    st.booleans(),
)
def test_whatever_attributes_hold_there_are_findings(given_spans, retrievals, deduplicate):
    spans = [
        make_span(
            number,
            parent,
            attributes=attributes,
            resource=attributes,
            events=tuple(SpanEvent(name, 0, inner) for name, inner in events),
            start=start,
        )
        for number, (attributes, parent, events, start) in enumerate(given_spans, 1)
    ]
    for found in find(*spans, retrievals=retrievals, deduplicate=deduplicate):
        assert isinstance(found, Findings)
        assert isinstance(found.query, str | None)
        assert isinstance(found.answer, str | None)
        assert found.answer is None or found.answer.strip()
        for context in found.contexts or ():
            assert isinstance(context.content, str | None)
