import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

MESSAGE = {"message_id": "m", "conversation_id": "c", "mode": "chat", "answer": "14 days."}
PAGE = {"has_more": False, "limit": 20, "data": [MESSAGE, {**MESSAGE, "message_id": "m2"}]}


@pytest.mark.parametrize(
    "value",
    [
        MESSAGE,
        {"event": "message_end", "message_id": "m", "metadata": {"retriever_resources": []}},
        {"id": "m", "conversation_id": "c", "query": "q", "answer": "a", "retriever_resources": []},
    ],
)
def test_a_message_is_recognised_and_one_record_as_it_came(value):
    (record,) = decode_value(value).records
    assert (record.format, record.document) == ("dify_message", value)


def test_a_page_is_a_record_a_message_each_with_its_own_warnings():
    decoded = decode_value(PAGE, mended=("data[1].answer",))
    assert [record.document for record in decoded.records] == PAGE["data"]
    assert [len(record.warnings) for record in decoded.records] == [0, 1]


@pytest.mark.parametrize(
    "value",
    [
        {"answer": "a", "conversation_id": "c", "query": "q", "trace_id": "t"},
        {"answer": "a", "mode": "chat"},
        {"data": [MESSAGE]},
        {**PAGE, "data": []},
    ],
)
def test_other_answers_are_none(value):
    assert name_formats(value) == []


def test_too_many_resources_are_refused():
    message = {**MESSAGE, "metadata": {"retriever_resources": [{}] * 4}}
    refusal = find_refusal(decode_value, {**PAGE, "data": [message]}, contexts=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "data[0].metadata.retriever_resources")
