import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.documents import Document
from ragsonde.extraction.messages import (
    read_question,
    read_reply,
    read_role,
    read_tool_message,
    read_tool_output,
    read_turns,
)
from ragsonde_schemas.trace import Turn

TEXT = "14 days."


def turn(role, content):
    return Turn(role=role, content=content)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": TEXT},
        {"role": "assistant", "parts": [{"type": "text", "content": TEXT}]},
        {"role": "assistant", "content": [{"type": "text", "text": TEXT}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": TEXT}]},
        {"role": "assistant", "content": json.dumps([{"type": "text", "text": TEXT}])},
        {"role": "assistant", "content": {"format": 2, "parts": [{"type": "text", "text": TEXT}]}},
        {"role": "model", "parts": [{"text": TEXT}]},
        {"type": "ai", "content": TEXT},
        {"type": "ai", "data": {"content": TEXT}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": TEXT}},
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}},
        ["ai", TEXT],
    ],
)
def test_a_message_is_read_as_libraries_write_it(message):
    assert read_turns([message]) == (turn("assistant", TEXT),)
    assert read_turns(json.dumps([message])) == (turn("assistant", TEXT),)
    assert read_turns({"messages": [message]}) == (turn("assistant", TEXT),)
    assert read_turns([[message, message]]) == (turn("assistant", TEXT),) * 2
    assert read_turns([[message]]) == (turn("assistant", TEXT),)
    assert read_reply([{"role": "user", "content": "q"}, message]) == TEXT


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("human", "user"),
        ("HumanMessage", "user"),
        ("developer", "system"),
        ("function", "tool"),
        ("critic", "critic"),
    ],
)
def test_roles_have_one_word_each(name, role):
    assert role == read_role(name)


def test_parts_that_are_no_text_are_left_out_and_texts_joined():
    parts = [
        {"type": "reasoning", "content": "hm"},
        {"type": "text", "content": "How long"},
        {"type": "image_url", "image_url": {"url": "u"}},
        {"type": "text", "content": "does it take?"},
        "or not",
        5,
    ]
    assert read_turns([{"role": "user", "parts": parts}]) == (
        turn("user", "How long\ndoes it take?\nor not"),
    )


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_call_response", "id": "1", "response": ["a"]},
        {"type": "tool_call_response", "id": "1", "result": ["a"]},
        {"type": "tool-result", "toolCallId": "1", "result": ["a"]},
        {"type": "tool-result", "toolCallId": "1", "output": {"type": "json", "value": ["a"]}},
        {"type": "tool_result", "tool_use_id": "1", "content": '["a"]'},
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": '["a"]'}]},
    ],
)
def test_a_tool_result_is_a_turn_of_its_own(part):
    message = {"role": "user", "parts": [part, {"type": "text", "content": "and?"}]}
    assert read_turns([message]) == (turn("tool", '["a"]'), turn("system", "and?"))
    assert read_turns([{"role": "tool", "content": [part]}]) == (turn("tool", '["a"]'),)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ({"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}, ""),
        ({"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1"}]}, ""),
        ({"role": "assistant", "parts": [{"type": "tool_call", "name": "search"}]}, ""),
        ({"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use"}]}, ""),
        (
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": TEXT}, {"type": "tool_call"}],
                "finish_reason": "stop",
            },
            TEXT,
        ),
        ({"role": "assistant", "parts": [{"type": "tool_call"}, {"type": "text", "content": TEXT}]}, TEXT),
        (
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "x"}, {"type": "tool_call"}],
                "finish_reason": "tool-calls",
            },
            "",
        ),
        ({"role": "user", "content": "q"}, None),
        ({"role": "assistant", "content": " "}, None),
        ({"content": TEXT}, None),
        (5, None),
    ],
)
def test_a_reply_that_ends_in_a_tool_call_is_empty(message, reply):
    assert reply == read_reply([message])


@pytest.mark.parametrize(
    "value",
    [
        "How long?",
        {"query": "How long?"},
        {"chat_history": [], "question": "How long?"},
        {"input": "How long?"},
        {"str_or_query_bundle": {"query_str": "How long?"}},
        {"qb": 1, "messages": [{"role": "user", "content": "Hi"}, {"type": "human", "content": "How long?"}]},
        [{"role": "user", "content": "How long?"}, {"role": "assistant", "content": "x"}],
    ],
)
def test_a_question_is_found_in_what_was_put_in(value):
    assert read_question(value) == "How long?"
    assert read_question(json.dumps(value)) == ("How long?" if not isinstance(value, str) else '"How long?"')


@pytest.mark.parametrize(
    "value", [None, 5, " ", {}, [], {"query": " "}, {"pipe": {"a": "b"}}, '{"query": 5}']
)
def test_where_no_question_is_there_is_none(value):
    assert read_question(value) is None


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool", "content": '[{"text": "a", "id": "1"}]'},
        {"role": "tool", "content": '[{"text": "a", "id": "1"}]'},
        {"messages": [{"type": "tool", "content": '[{"text": "a", "id": "1"}]', "tool_call_id": "1"}]},
        {"output": {"type": "tool", "content": '[{"text": "a", "id": "1"}]'}},
        {"output": {"id": ["langchain", "ToolMessage"], "kwargs": {"content": '[{"text": "a", "id": "1"}]'}}},
        {"role": "user", "content": [{"type": "tool_result", "content": '[{"text": "a", "id": "1"}]'}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": '[{"text": "a", "id": "1"}]'}]},
                {"type": "text", "text": "Be brief."},
            ],
        },
        json.dumps({"type": "tool", "content": json.dumps(json.dumps([{"text": "a", "id": "1"}]))}),
    ],
)
def test_a_message_of_a_tool_holds_documents(value):
    assert read_tool_message(value) == read_tool_output(value) == (Document("a", "1"),)


@pytest.mark.parametrize(
    "value",
    [
        "text",
        None,
        {"content": "a"},
        {"output": "a"},
        [],
        {"messages": [{"role": "tool", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": [{"type": "tool-result", "result": "a"}, {"type": "text", "text": "b"}],
        },
        {"role": "tool", "content": " "},
    ],
)
def test_anything_else_is_no_message_of_a_tool(value):
    assert read_tool_message(value) is None


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (
            {"content": [{"type": "text", "text": '["a", "b"]'}, {"type": "text", "text": "c"}]},
            ["a", "b", "c"],
        ),
        ({"output": "a"}, ["a"]),
        ({"result": '["a"]'}, ["a"]),
        ({"output": "a", "other": 1}, ['{"output": "a", "other": 1}']),
        ("a", ["a"]),
        ('{"results": [{"content": "a"}]}', ["a"]),
        ('"quoted"', ["quoted"]),
        ({"result": '"quoted"'}, ["quoted"]),
        ([], []),
        ({"content": []}, []),
        ({"result": []}, []),
        ({"type": "tool", "content": "[]"}, []),
    ],
)
def test_what_a_tool_returned_is_read_whatever_wraps_it(value, texts):
    assert texts == [document.content for document in read_tool_output(value)]


@pytest.mark.parametrize(
    "value",
    [
        None,
        " ",
        "null",
        {"output": ""},
        {"result": None},
        '{"response": null}',
        {"type": "tool", "content": " "},
        {"type": "tool", "content": "null"},
        {"content": [{"type": "text", "text": ""}]},
    ],
)
def test_a_blank_output_is_nothing_recorded_whatever_wraps_it(value):
    assert read_tool_output(value) is None


def test_results_and_text_of_one_users_message_are_turns_of_their_own():
    message = {
        "role": "user",
        "content": [{"type": "tool_result", "content": "a"}, {"type": "text", "text": "Be brief."}],
    }
    assert read_turns([message]) == (turn("tool", "a"), turn("system", "Be brief."))
    assert read_question([message]) == "Be brief."
    assert read_question([{"role": "user", "content": "q"}, message]) == "q"


VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["user", "ai", "tool", "text", "tool_call", "a", "{", "[1]"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "type",
                    "content",
                    "parts",
                    "text",
                    "data",
                    "kwargs",
                    "id",
                    "message",
                    "messages",
                    "output",
                    "input",
                ]
            ),
            inner,
            max_size=4,
        )
        | inner.map(json.dumps)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_read_without_an_exception(value):
    assert all(isinstance(item.content, str) and item.content for item in read_turns(value))
    assert isinstance(read_reply(value), str | None)
    assert isinstance(read_question(value), str | None)
    assert isinstance(read_tool_output(value), tuple | None)


RESPONSES = [
    {"role": "user", "content": "q"},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": "1", "name": "search", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "1", "output": TEXT},
]


def test_items_of_the_responses_api_are_results_and_calls_and_no_texts():
    assert read_turns(RESPONSES) == (turn("user", "q"), turn("tool", TEXT))
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
    assert read_reply([*RESPONSES[1:3], said]) == "a"
    assert read_reply([said, *RESPONSES[1:3]]) == ""
    assert read_reply(RESPONSES[1:2]) is None
    assert read_question(RESPONSES) == "q"


@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output"])
def test_an_output_of_the_responses_api_is_what_a_tool_delivered(kind):
    item = {"type": kind, "call_id": "1", "output": TEXT}
    assert read_tool_message(item) == read_tool_output([item]) == (Document(TEXT),)
    parts = {**item, "output": [{"type": "input_text", "text": TEXT}]}
    assert read_tool_message(parts) == (Document(TEXT),)
