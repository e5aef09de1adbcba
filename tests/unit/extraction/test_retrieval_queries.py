import pytest

from builders.steps import make_step
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import StepKind

QUESTION, OTHER = "How long does a refund take?", "refund duration"
ROOT = make_step(1, question=QUESTION, answer="14 days.", end=900)


def retriever(step_id, question=None, *, parent=1, documents=("d",)):
    fields = {} if question is None else {"question": question}
    return make_step(step_id, parent, kind=StepKind.RETRIEVER, documents=documents, **fields)


def reranker(step_id, question=None):
    fields = {} if question is None else {"question": question}
    return make_step(step_id, 1, kind=StepKind.RERANKER, documents=["d"], **fields)


FINAL = make_step(50, 1, kind=StepKind.GENERATION, answer="14 days.")


def find(*steps):
    (found,) = find_in_steps([ROOT, *steps, FINAL], format_name="test", trace_id="t")
    return found


def query(*steps):
    return find(*steps).retrieval_query


def test_it_is_the_text_that_the_retriever_was_asked_where_that_is_not_the_question():
    found = find(retriever(2, OTHER))
    assert (found.retrieval_query, found.evidence["retrieval_query"].rule) == (OTHER, "test:retriever_input")
    assert query(retriever(2, f" {QUESTION}\n")) is None
    assert query(retriever(2)) is None


@pytest.mark.parametrize("late", [make_step(60, 1, kind=StepKind.CHECK), make_step(60, 1)])
def test_a_retrieval_that_reached_nobody_does_not_count(late):
    memory = retriever(61, "colours and sizes", parent=60)
    assert query(retriever(2, QUESTION), late, memory) is None
    assert query(retriever(2, OTHER), late, memory) == OTHER


def test_all_that_are_judged_were_asked_it():
    assert query(retriever(2, OTHER), retriever(3, OTHER)) == OTHER
    assert query(retriever(2, OTHER), retriever(3, "opening hours")) is None
    assert query(retriever(2, QUESTION), retriever(3, OTHER)) is None
    assert query(retriever(2, OTHER), retriever(3, "a part of it", parent=2)) == OTHER


def test_of_what_was_ranked_it_is_the_rerankers_else_that_of_the_retrievers_before_it():
    found = find(retriever(2, OTHER), reranker(3, "a better question"))
    assert found.retrieval_query == "a better question"
    assert found.evidence["retrieval_query"].rule == "test:reranker_query"
    assert query(retriever(2, OTHER), reranker(3, QUESTION)) is None
    assert query(retriever(2, OTHER), reranker(3), retriever(4, "later")) == OTHER


def test_where_no_documents_were_recorded_the_retrievers_before_the_final_generation_count():
    unrecorded = retriever(2, OTHER, documents=None)
    assert query(unrecorded, retriever(60, "colours and sizes", documents=None)) == OTHER


def test_what_a_tool_was_asked_is_no_query():
    assert query(make_step(2, 1, kind=StepKind.TOOL, documents=["d"], question=OTHER)) is None
