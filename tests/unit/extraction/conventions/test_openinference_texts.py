import json

import pytest

from builders.spans import make_span, make_whole
from ragsonde.extraction.span_findings import find_in_spans

QUESTION = "How long does a refund take?"
ANSWER = "14 days."
JSON = "application/json"


def find(root, *, said="From the model.", retriever=None):
    """What is found where a root, a retriever and a model call recorded these texts."""
    spans = [
        make_span(1, kind="CHAIN", attributes=root),
        make_span(2, 1, kind="RETRIEVER", attributes=retriever or {}),
        make_span(3, 1, kind="LLM", attributes={"output.value": said}),
    ]
    (found,) = find_in_spans(make_whole(*spans))
    return found


@pytest.mark.parametrize(
    "output",
    [
        "null",
        "<generator object f at 0x7f12>",
        json.dumps("<generator object f at 0x7f12>"),
        '{"answer": "cut off on its w',
    ],
)
def test_an_output_that_is_no_answer_leaves_it_to_the_model_call(output):
    found = find({"output.value": output, "output.mime_type": JSON})
    assert found.answer == "From the model."
    assert found.evidence["answer"].rule == "openinference:last_output_message"


@pytest.mark.parametrize(
    "value", ["null", "<shop.Ask object at 0x7f12>", json.dumps({"input": "<a.B(c=1)>"})]
)
def test_an_input_that_is_no_question_leaves_it_to_the_retriever(value):
    found = find({"input.value": value, "input.mime_type": JSON}, retriever={"input.value": QUESTION})
    assert (found.query, found.evidence["query"].rule) == (QUESTION, "openinference:retriever_input")


def test_a_json_string_is_its_text_where_the_span_says_that_it_is_json():
    texts = {"input.value": json.dumps(QUESTION), "output.value": json.dumps(ANSWER)}
    types = {"input.mime_type": JSON, "output.mime_type": JSON}
    found = find({**texts, **types}, retriever={"input.value": json.dumps(QUESTION), "input.mime_type": JSON})
    assert (found.query, found.answer, found.retrieval_query) == (QUESTION, ANSWER, None)
    found = find(texts)
    assert (found.query, found.answer) == (f'"{QUESTION}"', f'"{ANSWER}"')


def test_a_model_calls_output_is_read_like_a_runs():
    assert find({}, said="null").answer is None
    assert find({}, said="assistant: null and void").answer == "null and void"


def test_a_guardrail_around_the_model_call_leaves_it_the_answer():
    spans = [make_span(1, kind="CHAIN"), make_span(2, 1, kind="RETRIEVER")]
    call = make_span(4, 3, kind="LLM", attributes={"output.value": ANSWER})
    (found,) = find_in_spans(make_whole(*spans, make_span(3, 1, kind="GUARDRAIL"), call))
    assert found.answer == ANSWER
    (found,) = find_in_spans(make_whole(*spans, make_span(3, 1, kind="EVALUATOR"), call))
    assert found.answer is None
