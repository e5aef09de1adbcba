import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_all, find_one, get_rule, list_contexts
from ragsonde_schemas.trace import ContextOrigin

SYSTEM = f"Answer from the context only.\n\nContext:\n{TEXTS[0]}"


def make_payload(*, messages=None, response=None, **fields):
    """A payload with the keys and kinds of values that litellm 1.80's own logging gives."""
    if messages is None:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    if response is None:
        message = {"content": ANSWER, "role": "assistant", "tool_calls": None, "function_call": None}
        response = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [{"finish_reason": "stop", "index": 0, "message": message}],
        }
    return {
        "id": "chatcmpl-1",
        "litellm_call_id": "call-1",
        "trace_id": "sess-9",
        "session_id": "",
        "call_type": "acompletion",
        "stream": None,
        "status": "success",
        "startTime": 1796013960.34197,
        "endTime": 1796013960.536266,
        "response_time": 0.25,
        "model": "gpt-4o-mini",
        "metadata": {
            "requester_metadata": None,
            "vector_store_request_metadata": None,
            "user_api_key_hash": "h",
        },
        "response_cost": 1.35e-05,
        "total_tokens": 30,
        "prompt_tokens": 10,
        "completion_tokens": 20,
        "request_tags": ["prod"],
        "end_user": None,
        "messages": messages,
        "response": response,
        "model_parameters": {"user": "u-77"},
        "hidden_params": {},
        **fields,
    }


def make_search(*results, query="refund"):
    response = {"object": "vector_store.search_results.page", "search_query": query, "data": list(results)}
    return {"vector_store_id": "vs", "query": query, "vector_store_search_response": response}


def make_result(text, **fields):
    return {"content": [{"type": "text", "text": text}], **fields}


def test_a_call_is_read_whole():
    found = find_one(make_payload())
    assert (found.trace_id, found.record_key) == ("sess-9", "chatcmpl-1")
    assert (found.query, found.answer, found.model) == (QUESTION, ANSWER, "gpt-4o-mini")
    assert (found.user_id, found.session_id, found.tags) == ("u-77", None, ("prod",))
    assert found.usage == {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    assert (found.cost_usd, found.latency_ms) == (1.35e-05, 250)
    assert found.claimed_at.isoformat() == "2026-11-30T04:46:00.341970+00:00"
    assert found.metadata == {}


def test_the_section_of_the_system_message_is_a_context_from_the_prompt():
    found = find_one(make_payload())
    assert [(context.content, context.origin) for context in found.contexts] == [
        (TEXTS[0], ContextOrigin.PROMPT)
    ]
    assert get_rule(found, "contexts") == "litellm_payload:system_message"
    assert found.evidence["contexts"].confidence == "derived"


@pytest.mark.parametrize("system", ["You are a polite assistant.", TEXTS[0]])
def test_a_system_message_without_a_section_is_no_context(system):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": QUESTION}]
    assert find_one(make_payload(messages=messages)).contexts is None


def test_a_section_of_the_users_message_is_a_context():
    asked = f"Context:\n{TEXTS[0]}\n\nQuestion: {QUESTION}"
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": asked}]
    found = find_one(make_payload(messages=messages))
    assert [context.content for context in found.contexts] == [TEXTS[0]]
    assert get_rule(found, "contexts") == "litellm_payload:user_message"


def test_a_search_whose_response_was_not_logged_leaves_contexts_unknown_with_a_warning():
    search = {"vector_store_id": "vs", "query": "refund", "vector_store_search_response": None}
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": QUESTION}]
    found = find_one(make_payload(messages=messages, metadata={"vector_store_request_metadata": [search]}))
    assert found.contexts is None
    assert [warning.split(":")[0] for warning in found.warnings] == ["contexts"]


def test_no_system_message_no_context():
    assert find_one(make_payload(messages=[{"role": "user", "content": QUESTION}])).contexts is None


def test_what_the_proxys_vector_stores_found_goes_before_the_prompt():
    searches = [
        make_search(
            make_result(TEXTS[0], score=0.9, file_id="f1", filename="faq.md", attributes={"lang": "en"}),
            make_result(TEXTS[1], score=0.8),
        )
    ]
    found = find_one(make_payload(metadata={"vector_store_request_metadata": searches}))
    assert list_contexts(found) == [("f1", TEXTS[0], 0.9), (None, TEXTS[1], 0.8)]
    assert found.contexts[0].metadata == {"lang": "en", "filename": "faq.md"}
    assert found.contexts[0].origin is ContextOrigin.RETRIEVER
    assert found.retrieval_query == "refund"


def test_a_search_that_found_nothing_is_an_empty_retrieval():
    assert find_one(make_payload(metadata={"vector_store_request_metadata": [make_search()]})).contexts == ()


def test_search_results_in_the_reply_are_read():
    search = make_search(make_result(TEXTS[0]))["vector_store_search_response"]
    message = {
        "role": "assistant",
        "content": ANSWER,
        "provider_specific_fields": {"search_results": [search]},
    }
    found = find_one(make_payload(response={"choices": [{"message": message}]}))
    assert [context.content for context in found.contexts] == [TEXTS[0]]


@pytest.mark.parametrize(
    "response",
    [
        {"object": "text_completion", "choices": [{"text": ANSWER, "index": 0}]},
        {"choices": [{"delta": {"content": ANSWER, "role": "assistant"}}]},
        {
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
            ]
        },
        ANSWER,
    ],
)
def test_answers_of_other_kinds_of_calls_are_read(response):
    assert find_one(make_payload(response=response)).answer == ANSWER


def test_an_answer_that_is_json_stays_as_it_is():
    message = {"role": "assistant", "content": '{"days": 14}'}
    assert find_one(make_payload(response={"choices": [{"message": message}]})).answer == '{"days": 14}'


def test_a_call_of_a_tool_is_no_answer():
    message = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search"}}]}
    assert find_one(make_payload(response={"choices": [{"message": message}]})).answer is None


def test_a_plain_prompt_is_the_question():
    assert find_one(make_payload(messages=QUESTION)).query == QUESTION


def test_redacted_texts_are_unknown():
    redacted = {"choices": [{"message": {"role": "assistant", "content": "redacted-by-litellm"}}]}
    found = find_one(
        make_payload(messages=[{"role": "user", "content": "redacted-by-litellm"}], response=redacted)
    )
    assert (found.query, found.answer, found.contexts) == (None, None, None)


@pytest.mark.parametrize("call_type", ["aembedding", "image_generation", "rerank", "atranscription"])
def test_a_call_that_answers_nothing_is_no_trace(call_type):
    assert find_all(make_payload(call_type=call_type)) == []


def test_what_the_requester_said_of_itself_is_read():
    requested = {"app": "shop", "environment": "production", "release": "2.1", "session_id": "s-1"}
    found = find_one(make_payload(metadata={"requester_metadata": requested}, end_user="u-1"))
    assert (found.app, found.environment, found.release) == ("shop", "production", "2.1")
    assert (found.session_id, found.user_id) == ("s-1", "u-1")


def test_calls_of_one_trace_are_records_of_their_own():
    first, second = find_one(make_payload()), find_one(make_payload(id="chatcmpl-2"))
    assert first.trace_id == second.trace_id
    assert first.record_key != second.record_key
