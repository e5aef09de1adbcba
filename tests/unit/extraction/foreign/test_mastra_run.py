import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_one, get_rule, list_contexts
from ragsonde_schemas.trace import ContextOrigin

RESULT = [
    {"id": "faq-12", "text": TEXTS[0], "score": 0.91},
    {"id": "faq-07", "text": TEXTS[1], "score": 0.62},
]
CONTEXTS = [("faq-12", TEXTS[0], 0.91), ("faq-07", TEXTS[1], 0.62)]


def make_call(result=RESULT, *, state="result", name="searchDocs", **fields):
    return {
        "state": state,
        "toolCallId": "c1",
        "toolName": name,
        "args": {"query": "refund"},
        "result": result,
        **fields,
    }


def make_tool_part(result=RESULT, **fields):
    return {"type": "tool-invocation", "toolInvocation": make_call(result, **fields)}


def make_text(text=ANSWER):
    return {"type": "text", "text": text}


def make_run(parts=None, *, question=QUESTION, system=(), output=None, **fields):
    asked = {"id": "m1", "role": "user", "content": {"format": 2, "parts": [make_text(question)]}}
    parts = [make_tool_part(), {"type": "step-start"}, make_text()] if parts is None else parts
    answered = {"id": "m2", "role": "assistant", "content": {"format": 2, "parts": parts}}
    return {
        "runId": "run-1",
        "input": {
            "inputMessages": [asked],
            "rememberedMessages": [],
            "systemMessages": [{"role": "system", "content": text} for text in system],
            "taggedSystemMessages": {},
        },
        "output": [answered] if output is None else output,
        **fields,
    }


def test_a_run_with_parts_inside_the_content_is_read_whole():
    found = find_one(make_run())
    assert (found.trace_id, found.query, found.answer) == ("run-1", QUESTION, ANSWER)
    assert list_contexts(found) == CONTEXTS
    assert {context.origin for context in found.contexts} == {ContextOrigin.TOOL}
    assert get_rule(found, "contexts") == "mastra_run:tool"


def test_a_run_with_plain_string_contents_is_read_whole():
    run = make_run(output=[{"role": "assistant", "content": ANSWER, "toolInvocations": [make_call()]}])
    run["input"]["inputMessages"] = [{"role": "user", "content": QUESTION}]
    found = find_one(run)
    assert (found.query, found.answer, list_contexts(found)) == (QUESTION, ANSWER, CONTEXTS)


def test_calls_listed_beside_the_parts_are_read_once():
    message = {
        "role": "assistant",
        "parts": [make_tool_part(), make_text()],
        "toolInvocations": [make_call()],
    }
    assert list_contexts(find_one(make_run(output=[message]), deduplicate=False)) == CONTEXTS


def test_the_last_user_message_is_the_question_and_the_earlier_ones_are_turns():
    run = make_run()
    run["input"]["rememberedMessages"] = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi!"},
    ]
    found = find_one(run)
    assert found.query == QUESTION
    assert [(turn.role, turn.content) for turn in found.turns] == [("user", "Hello"), ("assistant", "Hi!")]


def test_what_a_tool_returned_after_the_last_words_is_no_context_and_there_is_no_answer():
    found = find_one(make_run([make_text("I will search."), make_tool_part()]))
    assert (found.contexts, found.answer) == (None, None)


def test_a_call_that_has_no_result_yet_delivers_nothing():
    parts = [make_tool_part(None, state="call"), {"type": "step-start"}, make_text()]
    assert find_one(make_run(parts)).contexts is None


def test_an_empty_result_is_an_empty_retrieval():
    assert find_one(make_run([make_tool_part([]), make_text()])).contexts == ()


def test_the_agents_own_notebook_is_neither_context_nor_end():
    parts = [make_tool_part(), make_text(), make_tool_part({"success": True}, name="updateWorkingMemory")]
    found = find_one(make_run(parts))
    assert (found.answer, list_contexts(found)) == (ANSWER, CONTEXTS)


def test_the_vector_query_tools_sources_get_their_texts_from_the_relevant_context():
    result = {
        "relevantContext": [{"text": TEXTS[0]}, {"text": TEXTS[1]}],
        "sources": [
            {"id": "a", "score": 0.9, "metadata": {"text": TEXTS[0]}, "vector": [0.1]},
            {"id": "b", "score": 0.8, "metadata": {}, "vector": [0.2]},
        ],
    }
    found = find_one(make_run([make_tool_part(result), make_text()]))
    assert list_contexts(found) == [("a", TEXTS[0], 0.9), ("b", TEXTS[1], 0.8)]


def test_tool_parts_of_the_fifth_ai_sdk_are_read():
    part = {
        "type": "tool-searchDocs",
        "toolCallId": "c",
        "state": "output-available",
        "input": {},
        "output": RESULT,
    }
    assert list_contexts(find_one(make_run([part, make_text()]))) == CONTEXTS


def test_core_messages_of_tools_are_read():
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "searchDocs", "args": {}}
    result = {
        "type": "tool-result",
        "toolCallId": "c",
        "toolName": "searchDocs",
        "output": {"type": "json", "value": RESULT},
    }
    output = [
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
        {"role": "assistant", "content": [make_text()]},
    ]
    found = find_one(make_run(output=output))
    assert (found.answer, list_contexts(found)) == (ANSWER, CONTEXTS)


def test_contexts_that_the_run_states_go_before_what_tools_returned():
    found = find_one(make_run(additionalContext={"context": ["stated"]}))
    assert [context.content for context in found.contexts] == ["stated"]
    assert get_rule(found, "contexts") == "mastra_run:additionalContext.context"


def test_one_string_is_a_list_of_one_context():
    found = find_one(make_run([make_text()], additionalContext={"context": "stated"}))
    assert [context.content for context in found.contexts] == ["stated"]


def test_the_section_of_a_system_message_is_a_context_where_no_tool_ran():
    found = find_one(make_run([make_text()], system=[f"Answer from the context.\nContext:\n{TEXTS[0]}"]))
    assert [(context.content, context.origin) for context in found.contexts] == [
        (TEXTS[0], ContextOrigin.PROMPT)
    ]
    assert get_rule(found, "contexts") == "mastra_run:system_message"


def test_instructions_alone_are_no_context():
    assert find_one(make_run([make_text()], system=["Be polite."])).contexts is None


def test_whose_run_it_is():
    found = find_one(
        make_run(
            traceId="4bf92f3577b34da6a3ce929d0e0e4736",
            spanId="00f067aa0ba902b7",
            threadId="t-9",
            resourceId="u-77",
            entity={"id": "shop-agent", "name": "Shop"},
            source="TEST",
            groundTruth="14 days",
        )
    )
    assert found.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert (found.session_id, found.user_id, found.app) == ("t-9", "u-77", "shop-agent")
    assert found.reference.answer == "14 days"
    assert found.metadata == {"runId": "run-1", "spanId": "00f067aa0ba902b7", "source": "TEST"}


def test_a_stored_score_names_its_entity_by_id():
    assert find_one(make_run(entityId="shop-agent", entityType="AGENT", scorerId="s")).app == "shop-agent"


@pytest.mark.parametrize("output", [ANSWER, {"text": ANSWER}, {"output": ANSWER}])
def test_a_workflow_puts_out_what_it_likes(output):
    found = find_one({"runId": "r", "input": {"question": QUESTION}, "output": output})
    assert (found.query, found.answer, found.contexts) == (QUESTION, ANSWER, None)
