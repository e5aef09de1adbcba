import json

import pytest

from builders.spans import make_span, make_whole
from ragsonde.extraction.resource_names import is_app_name
from ragsonde.extraction.span_findings import find_in_spans

QUESTION = "How long does a refund take?"
ANSWER = "14 days."


def messages(side, *turns):
    attributes = {}
    for index, (role, content) in enumerate(turns):
        attributes[f"llm.{side}_messages.{index}.message.role"] = role
        attributes[f"llm.{side}_messages.{index}.message.content"] = content
    return attributes


def root(attributes=None, **fields):
    return make_span(1, kind="CHAIN", attributes=attributes or {}, **fields)


def find(*spans):
    (found,) = find_in_spans(make_whole(*spans))
    return found


def rule(found, field):
    return found.evidence[field].rule, found.evidence[field].confidence


def test_the_question_is_the_roots_input():
    found = find(root({"input.value": QUESTION}))
    assert (found.query, rule(found, "query")) == (QUESTION, ("openinference:root_input", "exact"))


@pytest.mark.parametrize("key", ["query", "question", "input"])
def test_a_question_in_json_is_read_from_its_key(key):
    value = json.dumps({"chat_history": [], key: QUESTION})
    assert find(root({"input.value": value, "input.mime_type": "application/json"})).query == QUESTION


def test_a_question_that_only_looks_like_json_is_text():
    assert find(root({"input.value": "[draft] How long?"})).query == "[draft] How long?"


@pytest.mark.parametrize(
    ("span", "found_by"),
    [
        (make_span(2, 1, kind="RETRIEVER", attributes={"input.value": QUESTION}), "retriever_input"),
        (
            make_span(2, 1, kind="RETRIEVER", attributes={"input.value": json.dumps({"query": QUESTION})}),
            "retriever_input",
        ),
        (make_span(2, 1, kind="RERANKER", attributes={"reranker.query": QUESTION}), "reranker_query"),
        (
            make_span(
                2,
                1,
                kind="LLM",
                attributes=messages("input", ("user", "Hi"), ("user", QUESTION), ("assistant", "x")),
            ),
            "last_user_message",
        ),
    ],
)
def test_without_a_root_input_the_question_comes_from_the_next_place(span, found_by):
    for value in (None, json.dumps({"prompt_builder": {}})):
        found = find(root({} if value is None else {"input.value": value}), span)
        assert (found.query, rule(found, "query")) == (QUESTION, (f"openinference:{found_by}", "derived"))


def test_message_parts_are_joined():
    attributes = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.text": "How long",
        "llm.input_messages.0.message.contents.1.message_content.type": "image",
        "llm.input_messages.0.message.contents.2.message_content.text": "does it take?",
    }
    assert find(root(), make_span(2, 1, kind="LLM", attributes=attributes)).query == "How long\ndoes it take?"


def test_without_any_place_there_is_no_question_and_no_answer():
    found = find(root())
    assert (found.query, found.answer, found.contexts) == (None, None, None)
    assert found.evidence == {}


def test_the_answer_is_the_roots_plain_output():
    found = find(root({"output.value": ANSWER}))
    assert (found.answer, rule(found, "answer")) == (ANSWER, ("openinference:root_output", "exact"))


def test_with_json_as_output_the_answer_is_the_last_models_message():
    found = find(
        root({"output.value": '{"llm": {"replies": []}}', "output.mime_type": "application/json"}),
        make_span(2, 1, kind="LLM", end=50, attributes=messages("output", ("assistant", ANSWER))),
        make_span(3, 1, kind="LLM", end=40, attributes=messages("output", ("assistant", "draft"))),
    )
    assert (found.answer, rule(found, "answer")) == (ANSWER, ("openinference:last_output_message", "derived"))


def test_where_the_last_model_call_recorded_no_message_an_earlier_one_is_no_answer():
    found = find(
        root({"output.value": '{"llm": {"replies": []}}', "output.mime_type": "application/json"}),
        make_span(2, 1, kind="LLM", end=50, attributes=messages("output", ("assistant", "a rewrite"))),
        make_span(4, 1, kind="LLM", end=60),
    )
    assert found.answer is None


def test_a_web_frameworks_root_hands_on_to_the_application_below():
    web = make_span(1, attributes={"http.route": "/chat"}, resource={"service.name": "shop"}, end=90)
    inner = make_span(
        3, 2, kind="LLM", attributes={"input.value": "prompt", "output.value": "draft"}, start=2
    )
    chain = make_span(
        2, 1, kind="CHAIN", attributes={"input.value": QUESTION, "output.value": ANSWER}, start=3
    )
    found = find(web, inner, chain)
    assert (found.query, found.answer, found.app, found.latency_ms) == (QUESTION, ANSWER, "shop", 89.0)


def test_session_and_user_come_from_the_root_then_any_span_then_the_metadata():
    found = find(root({"session.id": "s", "user.id": 7}), make_span(2, 1, attributes={"session.id": "other"}))
    assert (found.session_id, found.user_id) == ("s", "7")
    found = find(root(), make_span(2, 1, attributes={"user.id": "u"}))
    assert (found.session_id, found.user_id) == (None, "u")
    found = find(root({"metadata": '{"user_id": "u", "session_id": "s", "k": 1}'}))
    assert (found.session_id, found.user_id) == ("s", "u")
    assert rule(found, "user_id") == ("openinference:metadata", "derived")
    assert found.metadata == {"user_id": "u", "session_id": "s", "k": 1}


@pytest.mark.parametrize("name", ["llm.model_name", "llm.response.model_name", "llm.request.model_name"])
def test_the_model_is_the_last_calls(name):
    first = make_span(2, 1, kind="LLM", attributes={"llm.model_name": "old"})
    assert find(root(), first, make_span(3, 1, kind="LLM", attributes={name: "m"})).model == "m"


def test_app_environment_and_release_come_from_the_resource():
    resource = {
        "service.name": "shop",
        "service.version": "2.1",
        "deployment.environment.name": "production",
        "deployment.environment": "old",
    }
    found = find(root(resource=resource))
    assert (found.app, found.release, found.environment) == ("shop", "2.1", "production")
    assert rule(found, "environment") == ("resource:deployment.environment.name", "exact")
    assert find(root(resource={"deployment.environment": "staging"})).environment == "staging"


def test_without_a_named_service_the_project_is_the_app():
    resource = {"service.name": "unknown_service", "openinference.project.name": "shop"}
    assert find(root(resource=resource)).app == "shop"
    assert find(root(resource={"service.name": "unknown_service"})).app is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "unknown_service",
        "unknown_service:python",
        "/usr/bin/python",
        "./app.py",
        "../x",
        "~/app",
        "C:\\app",
        "src\\app",
        "src/main.py",
    ],
)
def test_a_name_nobody_gave_is_no_app(name):
    assert not is_app_name(name)


@pytest.mark.parametrize("name", ["shop", "shop-assistant", "team/shop", "shop.v2", "käse laden"])
def test_other_names_are_apps(name):
    assert is_app_name(name)


def test_tokens_and_costs_are_summed_without_counting_a_wrapper_twice():
    counts = {"llm.token_count.prompt": 10, "llm.token_count.completion": 2, "llm.cost.total": 0.25}
    found = find(
        root(),
        make_span(2, 1, kind="LLM", attributes=counts),
        make_span(3, 2, kind="LLM", attributes=counts),
        make_span(4, 1, kind="LLM", attributes={**counts, "llm.token_count.completion": "nan"}),
    )
    assert found.usage == {"prompt_tokens": 20, "completion_tokens": 2}
    assert found.cost_usd == 0.5
    assert find(root()).usage == {}
    assert find(root()).cost_usd is None


@pytest.mark.parametrize("cost", [-1.0, "x", 1e308])
def test_costs_that_are_none_are_unknown(cost):
    spans = [make_span(number, 1, kind="LLM", attributes={"llm.cost.total": cost}) for number in (2, 3)]
    assert find(root(), *spans).cost_usd is None


@pytest.mark.parametrize(
    ("tags", "read"), [(["a", "b"], ("a", "b")), ('["a"]', ("a",)), ("a", ("a",)), (5, ()), ([1], ())]
)
def test_tags_are_a_list_or_its_json(tags, read):
    assert read == find(root({"tag.tags": tags})).tags


def test_the_time_and_the_latency_are_the_roots():
    found = find(root(start=0, end=1500))
    assert found.claimed_at.isoformat() == "2026-11-29T22:11:15+00:00"
    assert found.latency_ms == 1500.0
    assert find(root(start=5, end=1)).latency_ms is None
    assert find(root()._replace(start_ns=0)).claimed_at is None


def test_a_run_that_ends_in_a_tool_call_has_no_answer():
    called = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
        "output.value": '{"tool_calls": []}',
    }
    first = make_span(2, 1, kind="LLM", attributes=messages("output", ("assistant", "Let me look.")))
    found = find(root({"output.value": "{}"}), first, make_span(3, 1, kind="LLM", attributes=called))
    assert found.answer is None


def test_pipeline_inputs_with_python_reprs_leave_question_and_answer_to_the_parts():
    found = find(
        root(
            {
                "input.value": json.dumps({"data": {"retriever": {"query": "<Query at 0x1>"}}}),
                "output.value": json.dumps({"llm": {"replies": ["ChatMessage(_role=<ChatRole.ASSISTANT>)"]}}),
            }
        ),
        make_span(2, 1, kind="RETRIEVER", attributes={"input.value": json.dumps({"query": QUESTION})}),
        make_span(3, 1, kind="LLM", attributes=messages("output", ("assistant", ANSWER))),
    )
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_a_model_call_without_messages_answers_with_its_plain_output():
    assert find(root(), make_span(2, 1, kind="LLM", attributes={"output.value": ANSWER})).answer == ANSWER


@pytest.mark.parametrize("output", [f"assistant: {ANSWER}", "null", '{"choices": []}', "something else"])
def test_a_model_calls_messages_go_before_its_output(output):
    said = {**messages("output", ("assistant", ANSWER)), "output.value": output}
    assert find(root(), make_span(2, 1, kind="LLM", attributes=said)).answer == ANSWER


def test_the_speaker_before_a_model_calls_output_is_no_part_of_it():
    said = {"output.value": f"assistant: {ANSWER}"}
    assert find(root(), make_span(2, 1, kind="LLM", attributes=said)).answer == ANSWER


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({"tool_calls": [{"function": {"name": "search"}}]}),
        json.dumps([{"type": "function_call", "name": "search"}]),
        "assistant: ",
    ],
)
def test_a_model_call_that_only_calls_tools_says_nothing(output):
    assert find(root(), make_span(2, 1, kind="LLM", attributes={"output.value": output})).answer is None


@pytest.mark.parametrize("calling", [0, 1])
def test_a_model_call_whose_last_message_calls_a_tool_has_not_answered(calling):
    said = messages("output", ("assistant", "Let me look."), ("assistant", ANSWER))
    said[f"llm.output_messages.{calling}.message.tool_calls.0.tool_call.function.name"] = "search"
    expected = None if calling else "Let me look."
    assert expected == find(root(), make_span(2, 1, kind="LLM", attributes=said)).answer


@pytest.mark.parametrize(
    "output",
    [
        {"status": "completed", "message": ANSWER},
        {"status": "completed", "message": {"role": "assistant", "content": ANSWER}},
        {"messages": [{"type": "human", "content": QUESTION}, {"type": "ai", "content": ANSWER}]},
        [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}],
    ],
)
def test_an_answer_in_the_roots_json_is_derived(output):
    title = make_span(5, 1, kind="LLM", attributes=messages("output", ("assistant", "Refunds")))
    found = find(root({"output.value": json.dumps(output)}, end=90), title)
    assert (found.answer, rule(found, "answer")) == (ANSWER, ("openinference:output.value", "derived"))


@pytest.mark.parametrize(
    "said",
    [
        [{"type": "ai", "content": "Hello"}, {"type": "human", "content": QUESTION}],
        [
            {"type": "human", "content": QUESTION},
            {"type": "ai", "content": "", "tool_calls": [{"name": "f"}]},
        ],
    ],
)
def test_messages_that_end_otherwise_hold_no_answer(said):
    assert find(root({"output.value": json.dumps({"messages": said})})).answer is None


@pytest.mark.parametrize("kind", ["GUARDRAIL", "EVALUATOR"])
def test_what_a_guardrail_or_an_evaluator_does_is_not_the_applications(kind):
    web = make_span(1, attributes={"http.route": "/chat"}, end=90)
    checked = {"input.value": "Is it harmless?", "output.value": "yes"}
    asked = {"input.value": QUESTION, "output.value": ANSWER}
    said = {**messages("input", ("user", "Is it harmless?")), **messages("output", ("assistant", "yes"))}
    found = find(
        web,
        make_span(2, 1, kind=kind, attributes=checked),
        make_span(3, 2, kind="LLM", attributes=said),
        make_span(4, 1, kind="CHAIN", attributes=asked),
        make_span(5, 1, kind=kind, attributes=checked),
        make_span(6, 5, kind="LLM", attributes=said),
    )
    assert (found.query, found.answer, found.turns) == (QUESTION, ANSWER, ())


@pytest.mark.parametrize("kind", ["PROMPT", "EMBEDDING"])
def test_a_filled_template_is_no_answer(kind):
    web = make_span(1, attributes={"http.route": "/chat"}, end=90)
    filled = {"input.value": QUESTION, "output.value": "Answer this: ..."}
    retriever = make_span(2, 1, kind="RETRIEVER", attributes={"input.value": QUESTION})
    said = messages("output", ("assistant", ANSWER))
    found = find(
        web,
        retriever,
        make_span(3, 1, kind=kind, attributes=filled),
        make_span(5, 1, kind="LLM", attributes=said),
    )
    assert found.answer == ANSWER


def test_the_prompt_of_a_single_model_call_is_its_last_user_turn():
    asked = {"input.value": json.dumps({"prompt": "stuffed"}), **messages("input", ("user", QUESTION))}
    assert find(make_span(1, kind="LLM", attributes=asked)).query == QUESTION


def test_the_turns_before_the_question_are_read_from_the_model_calls_messages():
    said = messages("input", ("system", "s"), ("human", "Hi"), ("ai", "Hello"), ("user", QUESTION))
    found = find(root({"input.value": QUESTION}), make_span(2, 1, kind="LLM", attributes=said))
    assert [(turn.role, turn.content) for turn in found.turns] == [("user", "Hi"), ("assistant", "Hello")]


def test_a_thread_of_langgraph_is_a_session():
    found = find(root({"metadata": '{"thread_id": 7}'}))
    assert (found.session_id, rule(found, "session_id")) == ("7", ("openinference:metadata", "derived"))
