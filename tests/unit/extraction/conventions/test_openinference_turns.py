import json

import pytest

from builders.spans import make_span
from ragsonde.extraction.conventions.openinference_turns import read_given
from ragsonde.extraction.span_findings import read_steps
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde_schemas.trace import Turn

QUESTION = "How long does a refund take?"
FACT = "A refund takes 14 days."
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": FACT}
CALL = {"type": "tool_use", "id": "t1", "name": "search", "input": {}}
MESSAGES = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, CALL]},
    {"role": "user", "content": [RESULT]},
]
FLATTENED = (("user", QUESTION), ("assistant", "Let me look."), ("user", FACT))
TURNS = (
    Turn(role="user", content=QUESTION),
    Turn(role="assistant", content="Let me look."),
    Turn(role="tool", content=FACT),
)


def call(*said, given=None, answer="14 days."):
    """A model call that was told flattened messages, with its request as the input."""
    attributes = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    if given is not None:
        attributes["input.value"] = given if isinstance(given, str) else json.dumps(given)
    for place, (role, content) in enumerate(said):
        attributes[f"llm.input_messages.{place}.message.role"] = role
        attributes[f"llm.input_messages.{place}.message.content"] = content
    return make_span(2, None, kind="LLM", attributes=attributes)


def test_a_tools_result_that_was_flattened_to_a_users_text_is_no_question():
    span = call(*FLATTENED, given={"model": "m", "messages": MESSAGES})
    assert read_given(span) == TURNS
    (found,) = find_in_steps(read_steps([span]), format_name="otlp", trace_id="t")
    assert found.query == QUESTION
    assert [context.content for context in found.contexts] == [FACT]
    assert found.evidence["contexts"].rule == "openinference:tool_message"


@pytest.mark.parametrize("given", [MESSAGES, {"messages": [MESSAGES]}, {"input": MESSAGES}])
def test_the_inputs_messages_are_found_where_clients_put_them(given):
    assert read_given(call(*FLATTENED, given=given)) == TURNS


def test_items_of_the_responses_api_are_results_and_calls():
    given = [
        MESSAGES[0],
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "1", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": FACT},
    ]
    assert read_given(call(("user", QUESTION), given={"input": given})) == (TURNS[0], TURNS[2])


def test_parts_that_were_flattened_as_json_are_results():
    said = (("user", QUESTION), ("user", json.dumps([RESULT])))
    assert read_given(call(*said)) == (TURNS[0], TURNS[2])


def test_what_the_system_said_beside_the_messages_is_kept():
    system = ("system", "Be brief.")
    found = read_given(call(system, *FLATTENED, given={"system": "Be brief.", "messages": MESSAGES}))
    assert found == (Turn(role="system", content="Be brief."), *TURNS)
    inside = [{"role": "system", "content": "Be brief."}, *MESSAGES]
    assert read_given(call(system, *FLATTENED, given={"messages": inside})) == found


@pytest.mark.parametrize(
    "given", [None, "", QUESTION, "{", {"messages": "x"}, {"messages": MESSAGES[:1]}, [1]]
)
def test_an_input_that_tells_of_no_tools_leaves_the_flattened_messages(given):
    said = (("system", "Be brief."), ("user", QUESTION), ("assistant", "Hi."), ("user", "[{1}]"))
    assert read_given(call(*said, given=given)) == tuple(Turn(role=role, content=text) for role, text in said)


def test_a_tool_that_failed_left_no_turn():
    failed = {**RESULT, "content": "Timeout", "is_error": True}
    span = call(
        *FLATTENED[:2],
        ("user", "Timeout"),
        given={"messages": [*MESSAGES[:2], {"role": "user", "content": [failed]}]},
    )
    assert read_given(span) == TURNS[:2]
