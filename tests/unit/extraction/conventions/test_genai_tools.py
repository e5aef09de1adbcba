import json

import pytest

from builders.genai_spans import ANSWER, DOCUMENTS, QUESTION, chat, find, message, operation, texts
from ragsonde.extraction.span_findings import read_steps


@pytest.mark.parametrize("value", [DOCUMENTS, json.dumps(DOCUMENTS), {"results": DOCUMENTS}])
def test_a_tools_result_is_a_context_when_a_chat_follows(value):
    tool = operation(2, "execute_tool", tool__call__result=value)
    found = find(tool, chat(3))
    assert texts(found) == ["a", "b"]
    assert found.evidence["contexts"].rule == "genai:tool"
    assert find(chat(1), tool).contexts is None


@pytest.mark.parametrize("key", ["response", "result"])
def test_a_tools_result_in_the_messages_is_a_context(key):
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", key: DOCUMENTS}]}
    said = [message("user", QUESTION), {"role": "assistant", "parts": [{"type": "tool_call"}]}, result]
    found = find(operation(2, "execute_tool"), operation(3, "chat", input__messages=json.dumps(said)))
    assert (texts(found), found.query) == (["a", "b"], QUESTION)
    assert {context.origin for context in found.contexts} == {"tool"}


@pytest.mark.parametrize("blank", ["null", " ", '"null"', None, {"output": ""}])
def test_a_tools_blank_result_is_unknown_and_not_an_empty_retrieval(blank):
    tool = operation(2, "execute_tool", tool__call__result=blank)
    assert find(tool, chat(3, ("user", QUESTION))).contexts is None
    assert find(operation(2, "execute_tool", tool__call__result="[]"), chat(3)).contexts == ()


def test_a_tools_blank_result_leaves_what_its_messages_say():
    said = [{"role": "tool", "parts": [{"type": "tool_call_response", "response": ["a"]}]}]
    tool = operation(2, "execute_tool", tool__call__result="null", input__messages=json.dumps(said))
    assert texts(find(tool, chat(3, ("user", QUESTION)))) == ["a"]


def test_results_beside_a_users_text_are_contexts_and_the_text_is_no_question():
    said = [
        message("user", QUESTION),
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": '[{"id": "1", "text": "a"}]'},
                {"type": "text", "text": "Be brief."},
            ],
        },
    ]
    found = find(
        operation(
            2, "chat", input__messages=json.dumps(said), output__messages=[message("assistant", ANSWER)]
        )
    )
    assert texts(found) == ["a"]
    assert found.query == QUESTION


def test_a_null_among_documents_is_no_document():
    found = find(operation(2, "retrieval", retrieval__documents=json.dumps([*DOCUMENTS, None])), chat(3))
    assert texts(found) == ["a", "b"]
    assert "contexts: 1 null items in the lists of documents are left out" in found.warnings


@pytest.mark.parametrize("marks", [{"is_error": True}, {"error.type": "TimeoutError"}])
def test_what_a_tool_that_failed_returned_is_unknown(marks):
    failed = operation(2, "execute_tool", tool__call__result="Error: index not reachable")
    attributes = {**failed.attributes, **{name: mark for name, mark in marks.items() if "." in name}}
    failed = failed._replace(attributes=attributes, is_error="is_error" in marks)
    assert find(failed, chat(3)).contexts is None
    assert texts(find(failed, operation(3, "execute_tool", tool__call__result=["a"]), chat(4))) == ["a"]
    assert [step.is_error for step in read_steps([failed])] == [True]
