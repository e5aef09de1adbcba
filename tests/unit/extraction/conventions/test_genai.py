import json

import pytest

from builders.genai_spans import (
    ANSWER,
    DOCUMENTS,
    QUESTION,
    chat,
    event,
    find,
    kind,
    message,
    operation,
    texts,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chat", "generation"),
        ("text_completion", "generation"),
        ("generate_content", "generation"),
        ("retrieval", "retriever"),
        ("vector_db_retrieve", "retriever"),
        ("search_memory", "retriever"),
        ("execute_tool", "tool"),
        ("invoke_agent", "other"),
        ("invoke_workflow", "other"),
        ("create_agent", "other"),
        ("embeddings", "other"),
        ("something_new", "other"),
    ],
)
def test_an_operation_tells_what_the_span_did(name, expected):
    assert expected == kind(operation(2, name))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"retrieval__documents": "[]"}, "retriever"),
        ({"retrieval__query__text": QUESTION}, "retriever"),
        ({"memory__records": []}, "retriever"),
        ({"tool__call__result": "a"}, "tool"),
        ({"tool__name": "search"}, "tool"),
        ({"output__messages": [message("assistant", ANSWER)]}, "generation"),
        ({"response__model": "m"}, "generation"),
        ({"conversation__id": "s"}, "other"),
    ],
)
def test_without_an_operation_what_was_recorded_tells_it(attributes, expected):
    assert expected == kind(operation(2, None, **attributes))


@pytest.mark.parametrize("written", [DOCUMENTS, json.dumps(DOCUMENTS), json.dumps(json.dumps(DOCUMENTS))])
def test_documents_are_a_list_or_its_json(written):
    found = find(operation(2, "retrieval", retrieval__documents=written), chat(3))
    assert [(item.content, item.id, item.score) for item in found.contexts] == [
        ("a", "1", 0.9),
        ("b", "2", 0.5),
    ]
    assert found.evidence["contexts"].rule == "genai:retriever"


def test_documents_without_texts_are_ids_to_be_resolved():
    documents = [{"id": "1", "score": 0.9}, {"id": "2", "score": 0.5}]
    found = find(operation(2, "retrieval", retrieval__documents=documents), chat(3))
    assert [(item.content, item.id) for item in found.contexts] == [(None, "1"), (None, "2")]


@pytest.mark.parametrize("written", ["[]", []])
def test_no_documents_are_an_empty_retrieval(written):
    assert find(operation(2, "retrieval", retrieval__documents=written), chat(3)).contexts == ()


def test_a_retrieval_that_did_not_record_its_documents_leaves_what_the_instructions_mark():
    instructions = json.dumps([{"type": "text", "content": "Be kind.\n<context>a</context>"}])
    found = find(operation(2, "retrieval"), chat(3, system_instructions=instructions))
    assert texts(found) == ["a"]
    assert find(chat(3, system_instructions=instructions)).contexts is None


def test_records_of_a_memory_are_contexts():
    span = operation(2, "search_memory", memory__query__text=QUESTION, memory__records=DOCUMENTS)
    found = find(span, chat(3))
    assert (texts(found), found.query) == (["a", "b"], QUESTION)


def test_the_question_is_the_retrievals_else_the_last_user_message():
    turns = (("user", "Hi"), ("assistant", "Hello"), ("user", QUESTION))
    found = find(chat(3, *turns))
    assert (found.query, [turn.content for turn in found.turns]) == (QUESTION, ["Hi", "Hello"])
    found = find(operation(2, "retrieval", retrieval__query__text="refunds"), chat(3, *turns))
    assert (found.query, found.evidence["query"].rule) == ("refunds", "genai:retrieval.query.text")


def test_a_runs_own_messages_go_before_those_of_its_parts():
    agent = operation(
        2,
        "invoke_agent",
        input__messages=[message("user", QUESTION)],
        output__messages=[message("assistant", ANSWER)],
    )
    retrieval = operation(3, "retrieval", 2, retrieval__query__text="refunds", retrieval__documents=DOCUMENTS)
    found = find(agent, retrieval, chat(4, ("user", "stuffed"), reply="draft", parent=2))
    assert (found.query, found.retrieval_query, found.answer) == (QUESTION, "refunds", ANSWER)


def test_tool_calls_among_the_texts_of_a_finished_run_are_ignored():
    parts = [{"type": "text", "content": ANSWER}, {"type": "tool_call", "id": "1", "name": "search"}]
    said = [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
    assert find(operation(2, "invoke_agent", output__messages=said)).answer == ANSWER


def test_a_run_that_ends_in_a_tool_call_has_no_answer():
    calls = [
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "x"}], "finish_reason": "tool_call"}
    ]
    found = find(chat(2, reply="Let me look."), operation(3, "chat", output__messages=calls))
    assert found.answer is None


def test_the_details_event_carries_the_same_attributes():
    details = event(
        "gen_ai.client.inference.operation.details",
        gen_ai__input__messages=[message("user", QUESTION)],
        gen_ai__output__messages=[message("assistant", ANSWER)],
        gen_ai__conversation__id="s",
    )
    found = find(operation(2, "chat", events=(details,)))
    assert (found.query, found.answer, found.session_id) == (QUESTION, ANSWER, "s")


def test_older_events_are_messages():
    events = (
        event("gen_ai.system.message", content="s"),
        event("gen_ai.user.message", content="Hi"),
        event("gen_ai.assistant.message", content="Hello"),
        event("gen_ai.user.message", content=QUESTION),
        event("gen_ai.tool.message", content='["a"]', id="1"),
        event("gen_ai.choice", index=0, finish_reason="stop", message=json.dumps({"content": ANSWER})),
    )
    found = find(operation(2, "chat", events=events))
    assert (found.query, found.answer, texts(found)) == (QUESTION, ANSWER, ["a"])
    assert [turn.content for turn in found.turns] == ["Hi", "Hello"]


def test_an_event_may_hold_its_body_as_one_object():
    events = (
        event(
            "gen_ai.user.message", gen_ai__event__content=json.dumps({"role": "user", "content": QUESTION})
        ),
        event(
            "gen_ai.choice",
            gen_ai__event__content=json.dumps({"finish_reason": "stop", "message": {"content": ANSWER}}),
        ),
    )
    found = find(operation(2, "chat", events=events))
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_a_choice_that_is_a_tool_call_is_no_answer():
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    events = (event("gen_ai.choice", finish_reason="tool_calls", message=json.dumps(called)),)
    assert find(operation(2, "chat", events=events)).answer is None


@pytest.mark.parametrize(
    "prompt",
    [
        f"user: {QUESTION}",
        f"system: be brief\nuser: Hi\nassistant: Hello\nuser: {QUESTION}",
        QUESTION,
        json.dumps([{"role": "user", "content": QUESTION}]),
    ],
)
@pytest.mark.parametrize(
    "completion", [ANSWER, f"assistant: {ANSWER}", json.dumps([{"role": "assistant", "content": ANSWER}])]
)
def test_prompt_and_completion_events_lose_their_roles(prompt, completion):
    events = (
        event("gen_ai.content.prompt", gen_ai__prompt=prompt),
        event("gen_ai.content.completion", gen_ai__completion=completion),
    )
    found = find(operation(2, "chat", events=events))
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_flattened_messages_are_read():
    found = find(
        operation(
            2,
            "chat",
            prompt__0__role="system",
            prompt__0__content="s",
            prompt__1__role="user",
            prompt__1__content=json.dumps([{"type": "text", "text": QUESTION}]),
            completion__0__role="assistant",
            completion__0__content=ANSWER,
            completion__1__content="other choice",
        )
    )
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_a_flattened_tool_call_is_no_answer():
    called = {"completion__0__finish_reason": "tool_calls", "completion__0__tool_calls__0__name": "search"}
    assert find(chat(2, reply="x"), operation(3, "chat", **called)).answer is None


def test_the_oldest_emitters_wrote_prompt_and_completion_as_attributes():
    found = find(operation(2, "chat", prompt=QUESTION, completion=ANSWER))
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_the_model_that_answered_goes_before_the_one_that_was_asked_for():
    assert find(chat(2, response__model="m-2024", request__model="m")).model == "m-2024"
    assert find(chat(2, response__model="unknown", request__model="m")).model == "m"
    assert find(chat(2, request__model="unknown")).model is None


def test_an_embeddings_model_and_tokens_are_not_the_answers():
    embedding = operation(3, "embeddings", request__model="e", usage__input_tokens=7)
    found = find(chat(2, request__model="m", usage__input_tokens=10, usage__output_tokens=2), embedding)
    assert (found.model, found.usage) == ("m", {"prompt_tokens": 10, "completion_tokens": 2})


def test_tokens_and_costs_of_a_run_hold_those_of_its_parts():
    counts = {"usage__input_tokens": 10, "usage__cache_read__input_tokens": 4, "usage__cost": 0.5}
    found = find(operation(2, "invoke_agent", **counts), chat(3, parent=2, **counts))
    assert (found.usage, found.cost_usd) == ({"prompt_tokens": 10, "cache_read_tokens": 4}, 0.5)


def test_older_names_of_token_counts_are_read():
    found = find(chat(2, usage__prompt_tokens=3, usage__completion_tokens="4"))
    assert found.usage == {"prompt_tokens": 3, "completion_tokens": 4}


def test_conversation_user_prompt_and_version_are_read():
    found = find(chat(2, conversation__id="s", prompt__name="qa", agent__version="7"))
    assert (found.session_id, found.release) == ("s", "7")
    assert found.metadata == {"gen_ai.prompt.name": "qa"}
