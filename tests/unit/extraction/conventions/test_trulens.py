from __future__ import annotations

import pytest
from hypothesis import given

from builders.hostile_attributes import build_attributes
from builders.spans import make_span, make_whole
from ragsonde.extraction.conventions.trulens import read_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import Reference

QUESTION = "What is the best coffee?"
ANSWER = "It depends."
SCOPE = "ai.observability."


def record(span_id, parent=None, *, kind, resource=None, start=None, end=None, **attributes):
    """A span as TruLens writes it; attributes follow its scope."""
    scoped = {f"{SCOPE}{name.replace('__', '.')}": value for name, value in attributes.items()}
    return make_span(
        span_id,
        parent,
        attributes={f"{SCOPE}span_type": kind, **scoped},
        resource=resource or {},
        start=start,
        end=end,
    )


def find_one(*spans):
    (findings,) = find_in_spans(make_whole(*spans))
    return findings


def test_a_span_without_trulens_attributes_is_none_of_its_steps():
    assert read_step(make_span(1, attributes={"ai.operationId": "ai.generateText"})) is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("retrieval", StepKind.RETRIEVER),
        ("reranking", StepKind.RERANKER),
        ("tool", StepKind.TOOL),
        ("MCP", StepKind.TOOL),
        ("generation", StepKind.GENERATION),
        ("record_root", StepKind.OTHER),
        ("eval", StepKind.OTHER),
        (3, StepKind.OTHER),
    ],
)
def test_the_span_type_is_the_kind(stated, expected):
    assert expected is read_step(record(1, kind=stated)).kind


def test_the_record_root_is_the_entry_with_question_answer_and_reference():
    step = read_step(
        record(
            1,
            kind="record_root",
            record_root__input=QUESTION,
            record_root__output=ANSWER,
            record_root__ground_truth_output="None is.",
        )
    )
    assert (step.question.value, step.answer.value, step.is_entry) == (QUESTION, ANSWER, True)
    assert Reference(answer="None is.") == step.facts["reference"].value


@pytest.mark.parametrize("contexts", [["One.", "Two."], '["One.", "Two."]'])
def test_a_retrieval_delivers_its_contexts(contexts):
    step = read_step(
        record(1, kind="retrieval", retrieval__query_text=QUESTION, retrieval__retrieved_contexts=contexts)
    )
    assert (Document("One."), Document("Two.")) == step.documents
    assert step.question.value == QUESTION


def test_one_context_may_be_a_text():
    step = read_step(record(1, kind="retrieval", retrieval__retrieved_contexts="One."))
    assert (Document("One."),) == step.documents


def test_a_retrieval_that_found_nothing_is_told_from_one_that_recorded_nothing():
    assert read_step(record(1, kind="retrieval", retrieval__retrieved_contexts=[])).documents == ()
    assert read_step(record(1, kind="retrieval")).documents is None


@pytest.mark.parametrize(
    ("scores", "expected"), [([0.9, "0.2"], [0.9, 0.2]), ([0.9], [None, None]), (None, [None, None])]
)
def test_a_reranker_delivers_its_texts_with_their_scores(scores, expected):
    step = read_step(
        record(
            1,
            kind="reranking",
            reranking__output_context_texts=["One.", "Two."],
            reranking__output_context_scores=scores,
        )
    )
    assert expected == [document.score for document in step.documents]


def test_tools_deliver_what_they_returned():
    assert (Document("One."),) == read_step(record(1, kind="tool", call__return=["One."])).documents
    assert (Document("One."),) == read_step(record(1, kind="MCP", mcp__output_content="One.")).documents


def test_app_and_version_go_before_the_service_that_emitted_the_spans():
    resource = {"service.name": "trulens", f"{SCOPE}app_name": "coffee_rag", f"{SCOPE}app_version": "v1"}
    findings = find_one(record(1, kind="record_root", record_root__input=QUESTION, resource=resource))
    assert (findings.app, findings.release) == ("coffee_rag", "v1")


def test_run_record_and_conversation_are_kept():
    facts = read_step(
        record(1, kind="record_root", run__name="test run", record_id="r-1", conversation_id="c-1")
    ).facts
    assert facts["metadata"].value == {"run.name": "test run", "record_id": "r-1"}
    assert facts["session_id"].value == "c-1"


def test_a_generation_counts_tokens_and_dollars_but_names_no_model():
    costs = {
        "cost__model": "mock",
        "cost__num_prompt_tokens": 336,
        "cost__num_completion_tokens": 93,
        "cost__num_tokens": 429,
        "cost__cost": 0.5,
    }
    facts = read_step(record(1, kind="generation", cost__cost_currency="USD", **costs)).facts
    assert facts["usage"].value == {"prompt_tokens": 336, "completion_tokens": 93, "total_tokens": 429}
    assert (facts["cost_usd"].value, "model" in facts) == (0.5, False)
    assert "cost_usd" not in read_step(record(1, kind="generation", cost__cost_currency="EUR", **costs)).facts
    assert "usage" not in read_step(record(1, kind="retrieval", **costs)).facts


def test_the_spans_of_a_record_give_one_record():
    findings = find_one(
        record(
            1, kind="record_root", record_root__input=QUESTION, record_root__output=ANSWER, start=0, end=9
        ),
        record(
            2, 1, kind="retrieval", retrieval__query_text=QUESTION, retrieval__retrieved_contexts=["One."]
        ),
        record(3, 1, kind="generation"),
    )
    assert (findings.query, findings.answer) == (QUESTION, ANSWER)
    assert [context.content for context in findings.contexts] == ["One."]


@given(
    build_attributes(
        f"{SCOPE}record_root.input",
        f"{SCOPE}record_root.output",
        f"{SCOPE}record_root.ground_truth_output",
        f"{SCOPE}retrieval.query_text",
        f"{SCOPE}retrieval.retrieved_contexts",
        f"{SCOPE}reranking.output_context_texts",
        f"{SCOPE}reranking.output_context_scores",
        f"{SCOPE}call.return",
        f"{SCOPE}cost.cost",
        f"{SCOPE}cost.cost_currency",
        f"{SCOPE}cost.num_tokens",
        f"{SCOPE}app_name",
        f"{SCOPE}span_type",
    )
)
def test_any_value_of_any_attribute_is_read(attributes):
    for kind in ("retrieval", "reranking", "tool", "generation"):
        assert read_step(make_span(1, attributes={f"{SCOPE}span_type": kind, **attributes})) is not None
