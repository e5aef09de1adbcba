import time

import pytest

from builders.retrieval_steps import choose, find, generation, places, reranker, retriever, texts
from builders.steps import make_step
from ragsonde.extraction.documents import Document, NullItem
from ragsonde.extraction.findings import cite

NULL = NullItem(None)
FILTERED = "contexts: 1 retrievals passed on nothing of what was found inside them"


def test_a_retriever_in_a_retriever_counts_once():
    found = find(retriever(2, "a", "b"), retriever(3, "b", "a", "x", parent=2))
    assert places(found) == [("a", 0), ("b", 0)]


def test_a_step_between_them_does_not_hide_the_outer_retriever():
    between = make_step(3, 2, convention="")
    assert texts(find(retriever(2, "a"), between, retriever(4, "b", parent=3))) == ["a"]


def test_a_reranker_in_a_reranker_counts_once():
    assert texts(find(reranker(2, "a"), reranker(3, "b", parent=2))) == ["a"]


def test_texts_that_a_reranker_left_out_are_those_that_were_retrieved():
    ids = [Document(None, "2", 0.9), Document(None, "1", 0.1)]
    found = find(retriever(2, Document("a", "1"), Document("b", "2")), reranker(3, *ids))
    assert [(context.content, context.id, context.score) for context in found.contexts] == [
        ("b", "2", 0.9),
        ("a", "1", 0.1),
    ]


def compression(*documents, end=70, ranked_end=50):
    """A retriever around the retriever it asks and the reranker that orders what that found."""
    return (
        retriever(2, *documents, end=end),
        retriever(3, "a", "b", "c", parent=2, end=35),
        reranker(4, "b", "a", "c", parent=2, end=ranked_end),
        generation(8),
    )


def test_a_retriever_around_its_reranker_delivered_what_it_passed_on():
    found = find(*compression("b"))
    assert places(found) == [("b", 0)]
    assert (found.evidence, found.warnings) == (cite("test:retriever"), ())


def test_a_reranker_that_ended_after_the_retriever_around_it_goes_before_that():
    assert texts(find(*compression("b", end=45))) == ["b", "a", "c"]


def test_a_retriever_that_recorded_nothing_leaves_its_reranker():
    around = make_step(2, 1, kind="retriever", end=70)
    assert texts(find(around, *compression()[1:])) == ["b", "a", "c"]


def test_a_retriever_that_recorded_no_texts_leaves_its_reranker_unless_that_tells_them():
    assert texts(find(*compression(Document(None, None, 0.9)))) == ["b", "a", "c"]
    inner = reranker(4, Document("a", "1"), Document("b", "2"), parent=2)
    assert texts(find(retriever(2, Document(None, "2"), end=70), inner, generation(8))) == ["b"]


def test_a_retriever_that_filtered_all_away_is_an_empty_retrieval_and_told():
    found = find(*compression())
    assert (found.contexts, found.warnings) == ((), (FILTERED,))
    assert found.evidence == cite("test:retriever")
    found = find(retriever(2, end=70), retriever(3, "a", parent=2), generation(8))
    assert (found.contexts, found.warnings) == ((), (FILTERED,))
    found = find(reranker(2, end=70), reranker(3, "a", parent=2), generation(8))
    assert (found.contexts, found.warnings) == ((), (FILTERED,))


def test_what_ended_after_the_retriever_around_it_recorded_nothing_counts():
    found = find(retriever(2, end=33), retriever(3, "a", parent=2, end=40), generation(8))
    assert (texts(found), found.warnings) == (["a"], ())


def test_of_several_retrievals_only_the_one_that_filtered_is_empty():
    other = retriever(7, "x")
    found = find(other, *compression())
    assert (texts(found), found.warnings) == (["x"], (FILTERED,))


def test_what_was_filtered_inside_a_retriever_that_delivered_is_not_told():
    outer = retriever(2, "z", end=79)
    inner = (retriever(3, parent=2, end=70), retriever(4, "a", parent=3, end=60))
    found = find(outer, *inner, generation(8))
    assert (texts(found), found.warnings) == (["z"], ())


def test_a_compression_after_an_earlier_reranker_is_the_last_one():
    first = (retriever(2, "a", "b"), reranker(3, "a"))
    second = (retriever(4, "b", end=70), reranker(5, "b", "a", parent=4))
    found = find(*first, *second, generation(8))
    assert texts(found) == ["b"]
    assert found.warnings == (
        "contexts: 1 of 3 retrievals are left out: what was ranked after them is judged",
    )


def test_a_compression_of_other_documents_is_beside_an_earlier_reranker():
    first = (retriever(2, "old"), reranker(3, "old"))
    second = (retriever(4, "b", end=70), reranker(5, "b", "a", parent=4))
    found = find(*first, *second, generation(8))
    assert (places(found), found.warnings) == ([("old", 1), ("b", 2)], ())


@pytest.mark.parametrize("retrievals", ["last", "union", "per_step"])
def test_a_compression_is_one_retrieval_whichever_are_chosen(retrievals):
    (found,) = choose(*compression("b"), retrievals=retrievals)
    assert texts(found) == ["b"]


def test_a_null_in_a_list_is_no_document_and_told():
    found = find(retriever(2, "a", NULL, "b"), retriever(3, NULL, "c"))
    assert places(found) == [("a", 0), ("b", 0), ("c", 1)]
    assert found.warnings == ("contexts: 2 null items in the lists of documents are left out",)


def test_a_list_of_nothing_but_nulls_is_unknown_and_not_empty():
    assert find(retriever(2, NULL, NULL)).contexts is None
    assert texts(find(retriever(2, "a", end=90), reranker(3, NULL))) == ["a"]


def test_many_retrievals_that_were_filtered_take_no_longer_than_their_number_asks():
    steps = [
        step
        for number in range(2, 30_002, 2)
        for step in (retriever(number, end=number * 10 + 9), reranker(number + 1, "a", parent=number, end=0))
    ]
    started = time.process_time()
    assert find(*steps).contexts == ()
    assert time.process_time() - started < 4
