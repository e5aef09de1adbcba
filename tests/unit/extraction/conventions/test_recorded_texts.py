from __future__ import annotations

import pytest
from hypothesis import given

from builders.hostile_attributes import VALUES
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("How long?", "How long?"),
        ({"query": "How long?", "prompt": "Answer: How long?"}, "How long?"),
        ({"inputs": {"input": "How long?"}}, "How long?"),
        ({"kwargs": {"query": "How long?", "language": "en"}}, "How long?"),
        ({"args": ["Shop", "How long?"]}, "How long?"),
        ({"args": ["Refunds"]}, "Refunds"),
        ({"args": [{"no": 1}, "How long?", "u-77"]}, "How long?"),
        ({"anything": "How long?", "model": "mock", "k": 3}, "How long?"),
        ({"one": "How long?", "other": "Which one?"}, None),
        ({"system": "Be brief."}, None),
        (["How long?"], "How long?"),
        (["one", "two"], None),
        ("<shop.Bot object at 0x7f12ab>", None),
        ('"How long?"', "How long?"),
        ({"query": '{"cut'}, None),
        ({}, None),
        ([], None),
        (7, None),
        (None, None),
    ],
)
def test_a_question_is_what_was_asked(recorded, expected):
    assert expected == read_question(recorded)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("14 days.", "14 days."),
        ('"14 days."', "14 days."),
        ({"answer": "14 days.", "text": "else"}, "14 days."),
        ({"answer": None, "output": {"text": "14 days."}}, "14 days."),
        ([{"generated_text": "x"}, {"generated_text": "y"}], None),
        ([{"output_text": "14 days."}], "14 days."),
        ({"choices": [{"text": "14 days."}, {"text": "another choice"}]}, "14 days."),
        ({"text": "Let me look.", "toolCalls": [{"toolName": "x"}]}, ""),
        ({"text": "14 days.", "toolCalls": []}, "14 days."),
        ([{"type": "reasoning"}, {"type": "function_call", "name": "f"}], ""),
        ({"error": "timeout"}, None),
        ({"status": "ok", "message": "success", "data": {"answer": "14 days."}}, "14 days."),
        ({"message": "success", "data": {"answer": None}}, None),
        ({"message": "success", "data": [{"id": 1}]}, None),
        ({"message": "success", "result": {"id": 1}}, None),
        ({"message": "14 days.", "data": None, "sources": [{"id": 1}]}, "14 days."),
        ({"statusCode": 200, "body": '{"answer": "14 days."}'}, "14 days."),
        ({"message": {"role": "assistant", "content": "14 days."}, "data": {"id": 1}}, "14 days."),
        ('{"answer": "cut', None),
        (7, None),
        (None, None),
    ],
)
def test_an_answer_is_what_was_said(recorded, expected):
    assert expected == read_answer(recorded)


@pytest.mark.parametrize(
    "printed",
    [
        "<shop.Bot object at 0x7f12ab>",
        "<generator object f at 0x7f12>",
        "<async_generator object Shop.ask.<locals>.stream at 0x7f12>",
        "<function Shop.ask at 0x7F12>",
        "<bound method Shop.ask of <shop.Shop object at 0x7f12>>",
        "<Document(id='1')>",
    ],
)
def test_what_python_prints_for_an_object_says_nothing(printed):
    assert (read_answer(printed), read_answer({"answer": printed}), read_question(printed)) == (
        None,
        None,
        None,
    )
    assert read_answer(f"It printed {printed}") == f"It printed {printed}"


@pytest.mark.parametrize(
    "key",
    [
        "query",
        "question",
        "input",
        "inputs",
        "user_input",
        "user_query",
        "user_message",
        "input_str",
        "message",
        "qb",
        "prompt",
    ],
)
def test_each_key_that_libraries_use_asks_the_question(key):
    assert read_question({"other": "Another text.", key: "How long?"}) == "How long?"


@pytest.mark.parametrize(
    "key", ["instructions", "language", "locale", "model", "session_id", "thread_id", "type"]
)
def test_a_setting_is_no_question(key):
    assert read_question({key: "a setting"}) is None


@pytest.mark.parametrize(
    "key",
    [
        "answer",
        "response",
        "output",
        "outputs",
        "result",
        "generation",
        "final_answer",
        "final_output",
        "output_text",
        "completion",
        "reply",
        "text",
        "content",
        "message",
    ],
)
def test_each_key_that_libraries_use_says_the_answer(key):
    assert read_answer({"other": "Another text.", key: "14 days."}) == "14 days."


@pytest.mark.parametrize("key", ["choices", "generations", "candidates"])
def test_the_first_of_several_choices_is_the_answer(key):
    assert read_answer({key: [{"text": "14 days."}, {"text": "Another."}]}) == "14 days."


@pytest.mark.parametrize("key", ["tool_calls", "toolCalls", "function_call", "toolCallId"])
@pytest.mark.parametrize("kind", [None, "function_call", "tool_call", "tool-call", "tool_use"])
def test_a_call_of_a_tool_is_no_answer(key, kind):
    calls = {"type": kind} if kind is not None else {key: "c1"}
    assert read_answer({"text": "Let me look.", **calls}) == ""


def test_only_so_many_levels_are_searched():
    question: object = "How long?"
    for _ in range(50):
        question = {"query": question}
    assert read_question(question) is None
    assert read_answer({"output": question}) is None


@given(VALUES)
def test_any_value_is_read(value):
    assert read_question(value) is None or isinstance(read_question(value), str)
    assert read_answer(value) is None or isinstance(read_answer(value), str)
