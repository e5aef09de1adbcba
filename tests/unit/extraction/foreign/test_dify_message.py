import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_all, find_one, get_rule, list_contexts


def make_resource(position, text, **fields):
    return {
        "position": position,
        "dataset_name": "faq",
        "document_id": f"d{position}",
        "segment_id": f"s{position}",
        "score": 1 / position,
        "content": text,
        **fields,
    }


def make_message(*resources, usage=None, **fields):
    metadata = {"retriever_resources": list(resources), "usage": usage or {}}
    return {
        "event": "message",
        "task_id": "task-1",
        "message_id": "msg-1",
        "conversation_id": "conv-1",
        "mode": "chat",
        "answer": ANSWER,
        "metadata": metadata,
        "created_at": 1796013960,
        **fields,
    }


def test_a_message_is_read_whole():
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "total_tokens": 14,
        "total_price": "0.0025",
        "currency": "USD",
        "latency": 1.5,
    }
    found = find_one(make_message(make_resource(2, TEXTS[1]), make_resource(1, TEXTS[0]), usage=usage))
    assert (found.trace_id, found.session_id, found.answer) == ("msg-1", "conv-1", ANSWER)
    assert list_contexts(found) == [("s1", TEXTS[0], 1.0), ("s2", TEXTS[1], 0.5)]
    assert found.contexts[0].metadata == {"position": 1, "dataset_name": "faq", "document_id": "d1"}
    assert found.usage == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert (found.cost_usd, found.latency_ms) == (0.0025, 1_500)
    assert found.claimed_at.isoformat() == "2026-11-30T04:46:00+00:00"
    assert (found.query, found.metadata) == (None, {})


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        ({"query": QUESTION}, "dify_message:query"),
        ({"inputs": {"query": QUESTION}}, "dify_message:inputs"),
        ({"inputs": {"question": QUESTION, "language": "en"}}, "dify_message:inputs"),
    ],
)
def test_the_question_is_there_where_it_was_added(added, rule):
    found = find_one(make_message(**added))
    assert (found.query, get_rule(found, "query")) == (QUESTION, rule)


def test_other_currencies_are_no_dollars():
    assert find_one(make_message(usage={"total_price": "0.1", "currency": "RMB"})).cost_usd is None


def test_nothing_retrieved_is_empty_and_nothing_said_of_it_unknown():
    assert find_one(make_message()).contexts == ()
    assert find_one(make_message(metadata={})).contexts is None


def test_the_messages_of_a_conversation_are_a_record_each():
    messages = [
        {
            "id": name,
            "conversation_id": "conv-1",
            "inputs": {},
            "query": QUESTION,
            "answer": ANSWER,
            "retriever_resources": [make_resource(1, TEXTS[0])],
            "created_at": 1796013960,
        }
        for name in ("m1", "m2")
    ]
    found = find_all({"limit": 20, "has_more": False, "data": messages})
    assert [(item.trace_id, item.query, len(item.contexts)) for item in found] == [
        ("m1", QUESTION, 1),
        ("m2", QUESTION, 1),
    ]


def test_a_user_that_the_producer_adds_is_taken():
    assert find_one(make_message(user="u-77")).user_id == "u-77"
