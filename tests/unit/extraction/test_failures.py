import json

import pytest

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.documents import Document
from ragsonde.extraction.failures import is_failure
from ragsonde.extraction.messages import read_question, read_tool_message, read_turns
from ragsonde_schemas.trace import Turn

ERROR = "Error: TimeoutError()\n Please fix your mistakes."
FACT = "A refund takes 14 days."
GOOD = {"type": "tool", "content": FACT, "tool_call_id": "2"}
FAILED = [
    {"type": "tool", "content": ERROR, "status": "error", "tool_call_id": "1"},
    {"type": "tool", "data": {"content": ERROR, "status": "error"}},
    {"id": ["langchain", "ToolMessage"], "kwargs": {"content": ERROR, "status": "error"}},
    {"role": "user", "content": [{"type": "tool_result", "content": ERROR, "is_error": True}]},
    {"role": "tool", "content": [{"type": "tool-result", "result": ERROR, "isError": True}]},
    {"role": "tool", "content": [{"type": "tool-result", "output": {"type": "error-text", "value": ERROR}}]},
]


@pytest.mark.parametrize("message", FAILED)
def test_a_message_of_a_tool_that_failed_delivers_nothing(message):
    assert read_tool_message([message]) is None
    assert read_returned(json.dumps({"messages": [message]})) is None
    assert read_turns([message]) == ()


@pytest.mark.parametrize("message", FAILED)
def test_a_good_result_beside_a_failure_is_all_that_was_delivered(message):
    assert read_tool_message({"messages": [message, GOOD]}) == (Document(FACT),)
    assert read_turns([message, GOOD]) == (Turn(role="tool", content=FACT),)


def test_what_a_user_says_beside_a_failure_is_no_question():
    failed = {"type": "tool_result", "content": ERROR, "is_error": True}
    said = {"role": "user", "content": [failed, {"type": "text", "text": "Try again."}]}
    assert read_turns([said]) == (Turn(role="system", content="Try again."),)
    assert read_question([{"role": "user", "content": "How long?"}, said]) == "How long?"


@pytest.mark.parametrize(
    "returned",
    [
        {"content": [{"type": "text", "text": "Timeout"}], "isError": True},
        {"status": "error", "content": [{"text": "Timeout"}]},
        {"error": "Timeout"},
        {"error": {"code": 500}, "message": "Timeout", "data": None},
        {"status": "error", "message": "Timeout"},
    ],
)
def test_what_a_tool_returned_as_its_failure_is_unknown(returned):
    assert is_failure(returned)
    assert read_returned(returned) is None
    assert read_returned(json.dumps(returned)) is None


@pytest.mark.parametrize(
    "returned",
    [
        {"content": [{"type": "text", "text": FACT}], "isError": False},
        {"error": None, "results": [{"text": FACT}]},
        {"error": "", "results": [{"text": FACT}]},
        {"error": "one shard is away", "results": [{"text": FACT}]},
    ],
)
def test_a_result_that_only_names_errors_is_none(returned):
    assert [document.content for document in read_returned(returned)] == [FACT]


def test_the_status_of_what_was_asked_for_is_no_failure():
    assert read_returned({"status": "error", "order": "17"}) is not None


@pytest.mark.parametrize("kind", [["error"], {}, None, 1])
def test_a_type_that_is_no_text_says_nothing(kind):
    assert not is_failure({"type": kind, "output": {"type": kind, "value": ERROR}})
    assert read_turns([{"type": kind, "content": FACT}]) == ()
