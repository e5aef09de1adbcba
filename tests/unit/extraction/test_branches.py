import time

import pytest

from builders.retrieval_steps import find, generation, places, reranker, retriever, texts
from builders.steps import make_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.steps import StepKind

LEFT_OUT = "contexts: 1 of {} retrievals are left out: what was ranked after them is judged"
FIRST, SECOND = retriever(2, "a", "b", start=20, end=25), retriever(3, "c", "d", start=20, end=25)


@pytest.mark.parametrize("starts", [(30, 31), (30, 40)])
def test_two_retrievers_each_with_its_own_reranker_are_two_branches(starts):
    ranked = (reranker(4, "b", start=starts[0]), reranker(5, "c", start=starts[1]))
    found = find(FIRST, SECOND, *ranked, generation(8))
    assert (places(found), found.warnings) == ([("b", 2), ("c", 3)], ())


def test_a_second_search_with_its_own_reranker_is_a_branch():
    found = find(retriever(2, "a", "b"), reranker(3, "b"), retriever(4, "c"), reranker(5, "c"), generation(8))
    assert (texts(found), found.warnings) == (["b", "c"], ())


def test_a_retriever_inside_its_reranker_is_the_rerankers_own():
    steps = [
        step
        for number, text in ((2, "a"), (4, "b"))
        for step in (reranker(number, text, end=60), retriever(number + 1, text, "x" + text, parent=number))
    ]
    assert texts(find(*steps, generation(8))) == ["a", "b"]


def test_a_reranker_of_what_both_branches_delivered_supersedes_both():
    ranked = (reranker(4, "b"), reranker(5, "c"), reranker(6, "c", "b"))
    found = find(FIRST, SECOND, *ranked, generation(8))
    assert texts(found) == ["c", "b"]
    assert found.warnings == (LEFT_OUT.replace("1", "2", 1).format(5),)


def test_a_last_reranker_that_left_nothing_of_one_branch_supersedes_both():
    found = find(FIRST, SECOND, reranker(4, "b"), reranker(5, "c"), reranker(6, "b"), generation(8))
    assert texts(found) == ["b"]


def test_rerankers_at_the_same_time_did_not_rank_each_others_documents():
    ranked = (reranker(4, "b", start=40, end=50), reranker(5, "a", start=45, end=55))
    found = find(FIRST, *ranked, generation(8))
    assert (texts(found), found.warnings) == (["b", "a"], ())


def test_a_reranker_without_a_retriever_of_its_own_ranked_what_there_was():
    found = find(retriever(2, "a"), reranker(3, "a"), reranker(4, "A, shortened"), generation(8))
    assert (texts(found), found.warnings) == (["A, shortened"], (LEFT_OUT.format(3),))
    unrecorded = make_step(2, 1, kind=StepKind.RETRIEVER)
    found = find(unrecorded, reranker(3, "a"), retriever(4, "b"), reranker(5, "b"), generation(8))
    assert texts(found) == ["b"]


def test_one_id_makes_one_branch_whatever_the_text():
    found = find(
        retriever(2, Document("a", "1")),
        reranker(3, Document("a", "1")),
        retriever(4, Document("longer", "1")),
        reranker(5, Document("longer", "1")),
        generation(8),
    )
    assert texts(found) == ["longer"]


def test_many_rerankers_take_no_longer_than_their_number_asks():
    steps = [
        step
        for number in range(2, 20_002, 2)
        for step in (retriever(number, f"{number}", "x"), reranker(number + 1, f"{number}"))
    ]
    started = time.process_time()
    assert texts(find(*steps, generation(20_004))) == ["20000"]
    assert time.process_time() - started < 5
