"""Calls of our own judges come back as traces where calls to a provider are logged; they are never judged."""

from __future__ import annotations

import json

import pytest

from builders.genai_spans import chat
from builders.spans import TRACE_ID, make_span, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope, make_trace
from ragsonde.api.traces import read_traces
from ragsonde.extraction.judge_calls import JUDGE_CALL_TAG, JUDGE_OPENING
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.judging.options import Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.open_record import FilterCause, OpenRecordKey

PROMPT = render_prompt(
    make_trace(), frozenset({Aspect.RELEVANT, Aspect.LEVEL, Aspect.USED}), reasons=Reasons.TRACE
)
REPLY = '{"c": [{"k": "1", "r": 3, "y": 1, "u": 1}, {"k": "2", "r": 0, "y": 0, "u": 0}], "why": "x"}'
QUESTION = "How long does a refund take?"


def litellm(messages, *, tags=(), reply=REPLY):
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "litellm_call_id": "call-1",
            "trace_id": "judge-1",
            "call_type": "completion",
            "status": "success",
            "startTime": 1796013960.3,
            "endTime": 1796013960.5,
            "model": "gpt-4o-mini",
            "metadata": {},
            "request_tags": list(tags),
            "messages": messages,
            "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": reply}}]},
            "model_parameters": {},
            "hidden_params": {},
        }
    ).encode()


def openinference(messages, span_id=1, parent=None):
    attributes = {"output.value": REPLY, "llm.output_messages.0.message.content": REPLY}
    for place, message in enumerate(messages):
        for key, value in message.items():
            attributes[f"llm.input_messages.{place}.message.{key}"] = value
    return make_span(span_id, parent, kind="LLM", attributes=attributes)


def genai(messages):
    told = [(message["role"], message["content"]) for message in messages]
    return chat(1, *told, reply=REPLY, parent=None)


def langfuse(messages):
    attributes = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": json.dumps(messages),
        "langfuse.observation.output": REPLY,
    }
    return make_span(1, attributes=attributes)


def take(body, **options):
    stages = make_stages(FakeJudge("lexical"), **options)
    ingest(make_envelope(body), stages)
    stages.clock.advance(5)
    close_record(OpenRecordKey(trace_id=TRACE_ID), stages)
    return stages


def told(stages):
    return [trace for trace, *_ in stages.sink.of("on_admitted")], stages.sink.of("on_filtered")


BODIES = {
    "litellm": litellm(PROMPT.messages),
    "litellm, tagged, texts redacted": litellm("redacted-by-litellm", tags=["prod", JUDGE_CALL_TAG]),
    "openinference": write_export(openinference(PROMPT.messages)),
    "openinference below a span": write_export(make_span(2), openinference(PROMPT.messages, 1, 2)),
    "genai": write_export(genai(PROMPT.messages)),
    "langfuse": write_export(langfuse(PROMPT.messages)),
    "native": json.dumps({"trace_id": "judge-1", "messages": PROMPT.messages, "answer": REPLY}).encode(),
    "a repair": litellm([*PROMPT.messages, {"role": "assistant", "content": "?"}, PROMPT.messages[1]]),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_call_of_our_judge_is_filtered_and_never_stored(body):
    assert told(take(body)) == ([], [(FilterCause.JUDGE_CALL,)])
    assert read_traces(body) == ()


def test_a_mapping_makes_no_trace_of_it():
    options = [ExtractionOptions.model_validate({"query": "'q'", "answer": "'a'"})]
    stages = take(BODIES["litellm"], mappings=Mappings(options), resolver=UserCodeResolver(options))
    assert told(stages) == ([], [(FilterCause.JUDGE_CALL,)])


QUOTED = f"Somebody wrote: {PROMPT.system}"
USERS = {
    "in a context": json.dumps(
        {"trace_id": "mine", "query": QUESTION, "contexts": [PROMPT.system, QUOTED], "answer": "14 days."}
    ).encode(),
    "in a native message with contexts": json.dumps(
        {"trace_id": "mine", "messages": PROMPT.messages, "contexts": ["14 days."], "answer": "14 days."}
    ).encode(),
    "as the question": litellm([{"role": "user", "content": PROMPT.system}], reply="What?"),
    "in the prompt's contexts": litellm(
        [
            {"role": "system", "content": f"Answer from the context.\n<context>{PROMPT.system}</context>"},
            {"role": "user", "content": QUESTION},
        ],
        reply="14 days.",
    ),
}


@pytest.mark.parametrize("body", USERS.values(), ids=USERS)
def test_a_trace_of_a_user_who_quotes_it_is_judged(body):
    traces, filtered = told(take(body))
    assert (len(traces), filtered) == (1, [])


def test_beside_an_applications_own_steps_it_is_left_out():
    own = [{"role": "user", "content": QUESTION}]
    root = make_span(
        2, kind="CHAIN", end=30, attributes={"input.value": QUESTION, "output.value": "14 days."}
    )
    search = make_span(
        3, 2, kind="RETRIEVER", attributes={"retrieval.documents.0.document.content": "It takes 14 days."}
    )
    answering = openinference(own, 4, 2)
    traces, filtered = told(take(write_export(root, search, answering, openinference(PROMPT.messages, 9, 2))))
    (trace,) = traces
    assert filtered == []
    assert (trace.query, trace.answer) == (QUESTION, "14 days.")
    assert [context.content for context in trace.contexts] == ["It takes 14 days."]


def test_every_prompt_begins_with_the_opening():
    for aspects in ({Aspect.MISSING}, {Aspect.STATEMENTS, Aspect.CLAIMS}, set(Aspect)):
        for reasons in Reasons:
            prompt = render_prompt(make_trace(), frozenset(aspects), reasons=reasons)
            assert prompt.messages[0]["role"] == "system"
            assert prompt.system.startswith(JUDGE_OPENING)
