import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_all, find_one, get_rule, list_contexts
from ragsonde_schemas.trace import ContextOrigin

PLAIN = [{"page_content": text, "metadata": {"source": "faq.md"}, "type": "Document"} for text in TEXTS]
CONTEXTS = [(None, text, None) for text in TEXTS]


def make_order(*names):
    return ".".join(f"20261129T2215{place:02}000000Z{name}" for place, name in enumerate(names))


def make_run(name, run_type, *children, above=(), **fields):
    path = (*above, name)
    return {
        "id": name,
        "trace_id": path[0],
        "parent_run_id": above[-1] if above else None,
        "dotted_order": make_order(*path),
        "name": name,
        "run_type": run_type,
        "start_time": f"2026-11-29T22:15:0{len(path)}.000000",
        "end_time": f"2026-11-29T22:15:0{len(path) + 1}.000000+00:00",
        "child_runs": list(children),
        **fields,
    }


def make_message(name, content, **kwargs):
    kwargs = {"content": content, **kwargs}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def make_retriever(documents=PLAIN, *, above=("root",), name="retriever", **fields):
    fields = {"inputs": {"query": "refund"}, "outputs": {"documents": documents}, **fields}
    return make_run(name, "retriever", above=above, **fields)


LLM = make_run(
    "llm",
    "llm",
    above=("root", "x"),
    inputs={
        "messages": [[make_message("SystemMessage", "Be kind."), make_message("HumanMessage", QUESTION)]]
    },
    outputs={
        "generations": [
            [
                {
                    "text": ANSWER,
                    "message": make_message(
                        "AIMessage",
                        ANSWER,
                        usage_metadata={"input_tokens": 10, "output_tokens": 4, "total_tokens": 14},
                        response_metadata={"model_name": "gpt-4o-2024-08-06"},
                    ),
                }
            ]
        ]
    },
    extra={"metadata": {"ls_model_name": "gpt-4o"}},
)


def make_root(*children, inputs=None, outputs=None, **fields):
    inputs = {"question": QUESTION} if inputs is None else inputs
    outputs = {"answer": ANSWER} if outputs is None else outputs
    return make_run("root", "chain", *children, inputs=inputs, outputs=outputs, **fields)


def test_what_a_run_that_failed_returned_is_unknown():
    failed = make_run("tool", "tool", above=("root",), outputs={"output": "Timeout"}, error="TimeoutError()")
    assert find_one(make_root(failed, LLM)).contexts is None
    assert find_one(make_root({**failed, "error": None}, LLM)).contexts is not None


def test_a_tree_with_plain_documents_is_read_whole():
    found = find_one(make_root(make_retriever(), LLM))
    assert (found.trace_id, found.query, found.answer) == ("root", QUESTION, ANSWER)
    assert found.retrieval_query == "refund"
    assert list_contexts(found) == CONTEXTS
    assert found.contexts[0].metadata == {"source": "faq.md"}
    assert found.model == "gpt-4o-2024-08-06"
    assert found.usage == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert found.claimed_at.isoformat() == "2026-11-29T22:15:01"
    assert found.latency_ms == 1_000
    assert get_rule(found, "contexts") == "langsmith_run:retriever"


@pytest.mark.parametrize("key", ["input", "question", "query"])
def test_the_question_stands_under_any_usual_name(key):
    assert find_one(make_root(inputs={key: QUESTION, "k": 4})).query == QUESTION


@pytest.mark.parametrize("key", ["output", "answer", "result"])
def test_the_answer_stands_under_any_usual_name(key):
    assert find_one(make_root(outputs={key: ANSWER, "source_documents": PLAIN})).answer == ANSWER


def test_the_messages_of_a_graph_are_question_and_answer():
    messages = [make_message("HumanMessage", QUESTION), make_message("AIMessage", ANSWER)]
    found = find_one(make_root(inputs={"messages": messages[:1]}, outputs={"messages": messages}))
    assert (found.query, found.answer) == (QUESTION, ANSWER)


def test_a_retriever_inside_a_retriever_counts_once():
    inner = make_retriever(above=("root", "outer"), name="inner")
    outer = make_retriever(PLAIN[:1], name="outer", child_runs=[inner])
    assert list_contexts(find_one(make_root(outer, LLM))) == CONTEXTS[:1]


def test_a_traced_functions_documents_are_its_output():
    assert list_contexts(find_one(make_root(make_retriever(outputs={"output": PLAIN}), LLM))) == CONTEXTS


def test_an_empty_retrieval_is_empty_and_a_failed_one_unknown():
    assert find_one(make_root(make_retriever([]), LLM)).contexts == ()
    failed = make_retriever(outputs=None, error="timeout")
    assert find_one(make_root(failed)).contexts is None


def test_a_chain_that_reranks_goes_before_the_retriever():
    reranker = make_run("rerank", "chain", above=("root", "x"), outputs={"output": PLAIN[1:]})
    found = find_one(make_root(make_retriever(), reranker, {**LLM, "start_time": "2026-11-29T22:15:08"}))
    assert list_contexts(found) == CONTEXTS[1:]
    assert found.contexts[0].origin is ContextOrigin.RERANKER


def test_a_tools_message_is_a_context_and_its_artifact_goes_before_its_text():
    message = make_message("ToolMessage", "joined", artifact=PLAIN)
    tool = make_run(
        "search", "tool", above=("root",), inputs={"input": "refund"}, outputs={"output": message}
    )
    found = find_one(make_root(tool, LLM))
    assert list_contexts(found) == CONTEXTS
    assert found.contexts[0].origin is ContextOrigin.TOOL


def test_what_filled_the_prompt_is_a_context_where_no_retriever_ran():
    prompt = make_run("prompt", "prompt", above=("root",), inputs={"context": TEXTS[0], "question": QUESTION})
    found = find_one(make_root(prompt, LLM))
    assert [(context.content, context.origin) for context in found.contexts] == [
        (TEXTS[0], ContextOrigin.PROMPT)
    ]


def test_whose_run_it_is():
    metadata = {"thread_id": "th-1", "user_id": "u-77", "revision_id": "2.1", "environment": "production"}
    found = find_one(
        make_root(
            extra={"metadata": metadata},
            tags=["prod"],
            session_id="a-project's-id",
            session_name="shop",
            reference_example_id="ex-1",
            reference_outputs={"answer": "14 days"},
        )
    )
    assert (found.session_id, found.user_id) == ("th-1", "u-77")
    assert (found.app, found.environment, found.release) == ("shop", "production", "2.1")
    assert (found.tags, found.reference.answer) == (("prod",), "14 days")
    assert found.metadata == {**metadata, "reference_example_id": "ex-1"}


def test_the_default_project_is_no_app():
    assert find_one(make_root(session_name="default")).app is None


def test_the_conversation_before_the_question_is_kept():
    history = [make_message("HumanMessage", "Hello"), make_message("AIMessage", "Hi!")]
    found = find_one(make_root(inputs={"question": QUESTION, "chat_history": history}))
    assert [(turn.role, turn.content) for turn in found.turns] == [("user", "Hello"), ("assistant", "Hi!")]


def test_flat_runs_of_one_trace_are_one_record():
    runs = [LLM, make_retriever(), make_root()]
    assert list_contexts(find_one([{**run, "child_runs": None} for run in runs])) == CONTEXTS


def test_a_batch_is_merged_into_its_traces():
    root, retriever = make_root(), make_retriever()
    batch = {
        "post": [
            {**root, "outputs": None, "end_time": None},
            {**retriever, "outputs": {}},
            {**make_root(inputs={"input": "other"}), "id": "r2", "trace_id": "r2"},
        ],
        "patch": [
            {"id": "root", "trace_id": "root", "outputs": {"answer": ANSWER}, "inputs": {}},
            {"id": "retriever", "trace_id": "root", "parent_run_id": "root", "outputs": {"documents": PLAIN}},
        ],
    }
    found = find_all(batch)
    assert [(item.trace_id, item.query, item.answer) for item in found] == [
        ("root", QUESTION, ANSWER),
        ("r2", "other", ANSWER),
    ]
    assert list_contexts(found[0]) == CONTEXTS


def test_runs_without_a_trace_id_belong_to_the_run_above_them():
    child = {**make_retriever(), "trace_id": None}
    root = {**make_root(), "trace_id": None}
    found = find_one([child, root])
    assert (found.trace_id, list_contexts(found)) == ("root", CONTEXTS)


def test_a_thousand_runs_below_each_other_are_read():
    runs = [make_root()]
    for place in range(3_000):
        above = "root" if place == 0 else f"r{place - 1}"
        runs.append(
            {"id": f"r{place}", "trace_id": "root", "parent_run_id": above, "run_type": "chain", "inputs": {}}
        )
    assert find_one(runs).query == QUESTION


def test_a_circle_of_parents_is_read():
    runs = [
        {**make_retriever(), "id": "a", "parent_run_id": "b", "trace_id": None},
        {**make_retriever(), "id": "b", "parent_run_id": "a", "trace_id": None},
    ]
    assert len(find_all(runs)) >= 1
