import json

import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_all, find_one, get_rule, list_contexts
from ragsonde_schemas.trace import ContextOrigin

RESULT = [
    {"id": "faq-12", "text": TEXTS[0], "score": 0.91},
    {"page_content": TEXTS[1], "metadata": {"score": 0.62}},
]
CONTEXTS = [("faq-12", TEXTS[0], 0.91), (None, TEXTS[1], 0.62)]


def make_observation(kind, second, *, parent=None, **fields):
    return {
        "id": f"o{second}",
        "traceId": "t-1",
        "parentObservationId": parent,
        "type": kind,
        "startTime": f"2026-11-29T22:13:{second:02}.000Z",
        "endTime": f"2026-11-29T22:13:{second:02}.500Z",
        **{key: json.dumps(value) if key in {"input", "output"} else value for key, value in fields.items()},
    }


RETRIEVER = make_observation("RETRIEVER", 1, input={"query": "refund"}, output=RESULT)
GENERATION = make_observation(
    "GENERATION",
    5,
    input=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": QUESTION}],
    output={"role": "assistant", "content": ANSWER},
    model="gpt-4o",
    usageDetails={"input": 10, "output": 4, "total": 14},
    costDetails={"input": 0.25, "output": 0.5},
)


def make_trace(*observations, **fields):
    return {
        "id": "t-1",
        "timestamp": "2026-11-29T22:13:00.000Z",
        "observations": list(observations),
        **fields,
    }


def make_message(kind, content, **fields):
    return {"type": kind, "content": content, "additional_kwargs": {}, **fields}


def test_a_flat_trace_is_read_whole():
    found = find_one(make_trace(RETRIEVER, GENERATION, input=json.dumps(QUESTION), output=json.dumps(ANSWER)))
    assert (found.trace_id, found.query, found.answer) == ("t-1", QUESTION, ANSWER)
    assert found.retrieval_query == "refund"
    assert list_contexts(found) == CONTEXTS
    assert (found.model, found.cost_usd) == ("gpt-4o", 0.75)
    assert found.usage == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert found.claimed_at.isoformat() == "2026-11-29T22:13:00+00:00"
    assert found.latency_ms == 4_500
    assert get_rule(found, "query") == "langfuse_export:trace.input"


def test_inputs_and_outputs_that_are_no_strings_are_read_too():
    plain = {**RETRIEVER, "output": RESULT}
    found = find_one(make_trace(plain, GENERATION, input={"question": QUESTION}, output={"answer": ANSWER}))
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)


def test_a_trace_with_a_generation_only_is_read_from_it():
    found = find_one(make_trace(GENERATION, input=None, output=None))
    assert (found.query, found.answer, found.contexts) == (QUESTION, ANSWER, None)


def test_observations_beside_the_trace_fill_those_inside_it():
    inner = {**RETRIEVER, "input": None, "output": None}
    document = {"trace": make_trace(inner, input=QUESTION), "observations": [RETRIEVER, GENERATION]}
    assert list_contexts(find_one(document)) == CONTEXTS


def test_a_trace_that_names_its_observations_only_has_unknown_contexts():
    found = find_one(make_trace("o1", "o2", input=QUESTION, output=ANSWER))
    assert (found.query, found.answer, found.contexts) == (QUESTION, ANSWER, None)


def test_no_retrieval_is_unknown_and_an_empty_one_is_empty():
    empty = make_observation("RETRIEVER", 1, output=[])
    assert find_one(make_trace(GENERATION)).contexts is None
    assert find_one(make_trace(empty, GENERATION)).contexts == ()


def test_a_reranker_goes_before_the_retriever():
    reranker = make_observation("RETRIEVER", 2, output=RESULT[:1], name="cohere-rerank")
    found = find_one(make_trace(RETRIEVER, reranker, GENERATION))
    assert list_contexts(found) == CONTEXTS[:1]
    assert found.contexts[0].origin is ContextOrigin.RERANKER


def test_a_tools_output_before_the_generation_is_a_context():
    tool = make_observation("TOOL", 1, output=RESULT)
    found = find_one(make_trace(tool, GENERATION))
    assert list_contexts(found) == CONTEXTS
    assert found.contexts[0].origin is ContextOrigin.TOOL


def test_what_an_observation_of_the_level_error_returned_is_unknown():
    failed = make_observation("RETRIEVER", 1, output="ConnectionError: refused", level="ERROR")
    assert find_one(make_trace(failed, GENERATION)).contexts is None


def test_a_tools_output_after_the_generation_is_none():
    assert find_one(make_trace(GENERATION, make_observation("TOOL", 7, output=RESULT))).contexts is None


def test_a_plain_span_is_a_tool_only_where_it_returns_a_tools_message():
    message = make_message("tool", json.dumps(RESULT), tool_call_id="c")
    span = make_observation("SPAN", 1, output={"messages": [message]})
    assert list_contexts(find_one(make_trace(span, GENERATION))) == CONTEXTS
    assert find_one(make_trace(make_observation("SPAN", 1, output=RESULT), GENERATION)).contexts is None


def test_tool_messages_of_the_output_count_where_no_observation_tells():
    messages = [
        make_message("human", QUESTION),
        make_message("ai", "", tool_calls=[{"name": "search"}]),
        make_message("tool", json.dumps(RESULT)),
        make_message("ai", ANSWER),
    ]
    found = find_one(
        make_trace(input=json.dumps({"messages": messages[:1]}), output=json.dumps({"messages": messages}))
    )
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)


def test_a_run_that_ends_in_a_tool_call_has_no_answer():
    calls = [{"toolCallId": "c", "toolName": "search", "input": "{}"}]
    generation = make_observation(
        "GENERATION", 1, input=[{"role": "user", "content": QUESTION}], output=calls
    )
    found = find_one(make_trace(generation, input={"prompt": QUESTION}, output=calls))
    assert (found.query, found.answer) == (QUESTION, None)


def test_whose_trace_it_is():
    metadata = {"resourceAttributes": {"service.name": "shop", "service.version": "9"}, "plan": "pro"}
    found = find_one(
        make_trace(
            userId="u-77",
            sessionId="sess-9",
            environment="production",
            release="2026.11.3",
            version="v1",
            tags=["prod", 5],
            metadata=json.dumps(metadata),
        )
    )
    assert (found.app, found.environment, found.release) == ("shop", "production", "2026.11.3")
    assert (found.session_id, found.user_id, found.tags) == ("sess-9", "u-77", ("prod",))
    assert found.metadata == {**metadata, "version": "v1"}


@pytest.mark.parametrize("service", ["unknown_service", "unknown_service:node", "", "/usr/bin/node"])
def test_what_an_sdk_puts_in_for_a_name_is_no_app(service):
    metadata = {"resourceAttributes": {"service.name": service}}
    assert find_one(make_trace(metadata=json.dumps(metadata))).app is None


def test_a_version_is_no_release():
    assert find_one(make_trace(version="1.0.0", release=None)).release is None


def test_the_arguments_of_a_traced_function_are_its_question():
    found = find_one(make_trace(input=json.dumps({"args": [QUESTION], "kwargs": {}})))
    assert found.query == QUESTION


def test_a_page_holds_a_trace_each():
    page = {"data": [make_trace(input="one"), {**make_trace(input="two"), "id": "t-2"}], "meta": {"page": 1}}
    assert [(found.trace_id, found.query) for found in find_all(page)] == [("t-1", "one"), ("t-2", "two")]


def test_observations_alone_are_gathered_by_trace():
    other = {**GENERATION, "id": "x", "traceId": "t-2"}
    found = find_all([RETRIEVER, other, GENERATION])
    assert [(item.trace_id, item.query, list_contexts(item)) for item in found] == [
        ("t-1", "refund", CONTEXTS),
        ("t-2", QUESTION, None),
    ]


@pytest.mark.parametrize("name", ["trace", "#0", "message:2", "#trace"])
def test_an_observation_may_be_called_whatever_it_likes(name):
    retriever = {**RETRIEVER, "id": name}
    nameless = {**GENERATION, "id": None}
    found = find_one(make_trace(nameless, retriever, input=QUESTION, output=ANSWER))
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)
    assert found.model == "gpt-4o"
    below = {**GENERATION, "parentObservationId": name}
    found = find_one(make_trace(below, retriever, input=QUESTION, output=ANSWER))
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)


def test_an_observation_without_an_id_counts_once():
    found = find_one(make_trace({**GENERATION, "id": None}))
    assert found.usage == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}


def test_an_observation_called_like_a_message_hides_no_tools_message():
    messages = [make_message("human", QUESTION), make_message("tool", "a"), make_message("ai", ANSWER)]
    plain = {**make_observation("SPAN", 1), "id": "message:1"}
    found = find_one(make_trace(plain, output={"messages": messages}))
    assert [context.content for context in found.contexts] == ["a"]


def test_what_a_user_says_beside_a_tools_result_keeps_those_before_it():
    messages = [
        make_message("human", QUESTION),
        {"role": "user", "content": [{"type": "tool_result", "content": "a"}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "content": "b"}, {"type": "text", "text": "Be brief."}],
        },
        make_message("ai", ANSWER),
    ]
    found = find_one(make_trace(input=QUESTION, output={"messages": messages}))
    assert [context.content for context in found.contexts] == ["a", "b"]


def test_a_tools_message_that_lists_nothing_is_an_empty_retrieval():
    messages = [make_message("human", QUESTION), make_message("tool", "[]"), make_message("ai", ANSWER)]
    assert find_one(make_trace(output={"messages": messages})).contexts == ()
    messages[1] = make_message("tool", "null")
    assert find_one(make_trace(output={"messages": messages})).contexts is None


def test_times_are_compared_as_times_whatever_zone_they_are_written_in():
    early = {**RETRIEVER, "startTime": "2026-11-30T00:00:00+02:00", "endTime": "2026-11-30T00:00:01+02:00"}
    late = {**GENERATION, "startTime": "2026-11-29T23:00:00Z", "endTime": 1_796_000_400_000}
    document = {"trace": {"id": "t-1"}, "observations": [late, {**late, "id": "x", "startTime": None}, early]}
    found = find_one(document)
    assert found.claimed_at.isoformat() == "2026-11-30T00:00:00+02:00"
    assert found.latency_ms == (1_796_000_400 - 1_795_989_600) * 1_000
