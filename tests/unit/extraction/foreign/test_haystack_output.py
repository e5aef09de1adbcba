import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_one, get_rule, list_contexts
from ragsonde_schemas.trace import ContextOrigin


def make_document(text=TEXTS[0], *, name="a", score=0.9, **fields):
    return {"id": name, "content": text, "score": score, "blob": None, "embedding": None, **fields}


DOCUMENTS = {"documents": [make_document(), make_document(TEXTS[1], name="b", score=0.5)]}
CONTEXTS = [("a", TEXTS[0], 0.9), ("b", TEXTS[1], 0.5)]
REPLIES = {
    "replies": [ANSWER],
    "meta": [{"model": "gpt-4o", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}],
}


def test_a_pipeline_of_strings_is_read_whole():
    found = find_one({"retriever": DOCUMENTS, "prompt_builder": {"prompt": "Answer."}, "llm": REPLIES})
    assert (found.answer, found.model, list_contexts(found)) == (ANSWER, "gpt-4o", CONTEXTS)
    assert found.usage == {"prompt_tokens": 3, "completion_tokens": 2}
    assert get_rule(found, "answer") == "haystack_output:replies"
    assert (found.query, found.warnings) == (None, ("trace_id_derived",))


def test_the_ranker_goes_before_the_retriever_whatever_they_are_called():
    found = find_one({"my_bm25": DOCUMENTS, "Ranker2": {"documents": [make_document()]}, "gen": REPLIES})
    assert list_contexts(found) == CONTEXTS[:1]
    assert found.contexts[0].origin is ContextOrigin.RERANKER


def test_a_joiner_holds_what_the_retrievers_found():
    joined = {"documents": [make_document(TEXTS[1], name="b", score=0.5)]}
    found = find_one(
        {"bm25_retriever": DOCUMENTS, "dense_retriever": DOCUMENTS, "joiner": joined, "llm": REPLIES}
    )
    assert list_contexts(found) == CONTEXTS[1:]


def test_components_that_are_no_retrievers_do_not_count_beside_one():
    embedded = {"documents": [make_document("a page to be stored", name="c")]}
    assert (
        list_contexts(find_one({"doc_embedder": embedded, "retriever": DOCUMENTS, "llm": REPLIES}))
        == CONTEXTS
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"role": "assistant", "meta": {"model": "m"}, "name": None, "content": [{"text": ANSWER}]},
        {"_role": "assistant", "_meta": {"model": "m"}, "_name": None, "_content": [{"text": ANSWER}]},
        {"role": "assistant", "meta": {"model": "m"}, "content": ANSWER},
    ],
)
def test_chat_messages_of_every_version_are_read(reply):
    found = find_one({"retriever": DOCUMENTS, "llm": {"replies": [reply]}})
    assert (found.answer, found.model) == (ANSWER, "m")


def test_a_reply_that_calls_a_tool_is_no_answer():
    reply = {
        "role": "assistant",
        "content": [{"text": "I will search."}, {"tool_call": {"tool_name": "search"}}],
    }
    assert find_one({"retriever": DOCUMENTS, "llm": {"replies": [reply]}}).answer is None


def test_the_last_generator_answers():
    found = find_one({"rewriter": {"replies": ["refund days"]}, "retriever": DOCUMENTS, "llm": REPLIES})
    assert found.answer == ANSWER


def test_a_built_answer_tells_question_answer_and_documents():
    answer = {
        "type": "haystack.dataclasses.answer.GeneratedAnswer",
        "init_parameters": {"data": ANSWER, "query": QUESTION, "documents": [make_document()], "meta": {}},
    }
    found = find_one({"answer_builder": {"answers": [answer]}})
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS[:1])


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        ({"query": QUESTION}, "haystack_output:query"),
        ({"question": QUESTION}, "haystack_output:question"),
        ({"data": {"embedder": {"text": "x"}, "retriever": {"query": QUESTION}}}, "haystack_output:data"),
        ({"data": {"embedder": {"text": QUESTION}}}, "haystack_output:data"),
        ({"query_router": {"query": QUESTION}}, "haystack_output:component_query"),
    ],
)
def test_the_question_is_what_was_given_to_the_pipeline(added, rule):
    found = find_one({"retriever": DOCUMENTS, "llm": REPLIES, **added})
    assert (found.query, get_rule(found, "query")) == (QUESTION, rule)


def test_a_result_beside_its_inputs_is_read():
    found = find_one(
        {"data": {"retriever": {"query": QUESTION}}, "result": {"retriever": DOCUMENTS, "llm": REPLIES}}
    )
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)


def test_metadata_written_flat_or_under_meta_is_kept():
    flat = make_document(source="faq.md")
    nested = make_document(TEXTS[1], meta={"source": "b.md"})
    found = find_one({"retriever": {"documents": [flat, nested]}, "llm": REPLIES})
    assert [context.metadata for context in found.contexts] == [{"source": "faq.md"}, {"source": "b.md"}]


def test_no_documents_are_an_empty_retrieval():
    assert find_one({"retriever": {"documents": []}, "llm": REPLIES}).contexts == ()
