import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.documents import Document

A, B = "A refund takes 14 days.", "Shipping takes 5 days."
ELASTIC = {"_index": "faq", "_id": "1", "_score": 0.4, "_source": {"text": A, "metadata": {"page": 2}}}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ([[{"page_content": A}, 0.3], [{"page_content": B}, 1]], [(A, None, 0.3), (B, None, 1.0)]),
        ([[{"id": "1", "text": A, "score": 0.9}, 0.3]], [(A, "1", 0.9)]),
        ([[A, 0.3]], [(A, None, 0.3)]),
        ([[{"page_content": A}], [{"page_content": B}]], [(A, None, None), (B, None, None)]),
        ([[{"text": A}, {"text": B}], []], [(A, None, None), (B, None, None)]),
        ([[[{"text": A}, 0.3]], [[{"text": B}, 0.2]]], [(A, None, 0.3), (B, None, 0.2)]),
        ([[A], [B]], [(A, None, None), (B, None, None)]),
        ([[]], []),
        ({"points": [{"id": 1, "score": 0.5, "payload": {"text": A}}]}, [(A, "1", 0.5)]),
        ({"result": {"points": [{"id": 1, "payload": {"text": A}}]}, "status": "ok"}, [(A, "1", None)]),
        ({"hits": {"total": 1, "hits": [ELASTIC]}, "took": 3}, [(A, "1", 0.4)]),
        ({"hits": {"total": 0, "hits": []}}, []),
        ({"data": [{"text": A}, {"text": B}], "total": 2}, [(A, None, None), (B, None, None)]),
        ({"data": [[{"id": 7, "distance": 0.1, "entity": {"text": A}}]]}, [(A, "7", None)]),
        ({"data": {"documents": [{"text": A}]}}, [(A, None, None)]),
        ({"results": [{"title": "Refunds", "content": A, "score": 0.5}]}, [(A, None, 0.5)]),
        ({"matches": [{"id": "1", "score": 0.4, "metadata": {"text": A}}]}, [(A, "1", 0.4)]),
        ({"objects": [{"properties": {"content": A}}]}, [(A, None, None)]),
    ],
)
def test_the_documents_are_found_in_what_databases_return(returned, expected):
    found = [(document.content, document.id, document.score) for document in read_returned(returned)]
    assert found == expected
    assert read_returned(json.dumps(returned)) == read_returned(returned)


def test_the_metadata_of_a_source_is_that_of_its_document():
    assert read_returned([ELASTIC]) == (Document(A, "1", 0.4, {"page": 2}),)


@pytest.mark.parametrize(
    "returned",
    [
        [["Refund", 14], ["Shipping", 5]],
        [["Refund", "14 days"], ["Shipping", "5 days"]],
        [[1, 2], [3, 4]],
        [["Shirt", 19.9], ["Hat", 9.5]],
    ],
)
def test_the_rows_of_a_table_lose_nothing(returned):
    assert [json.loads(document.content) for document in read_returned(returned)] == returned


@pytest.mark.parametrize(
    "returned",
    [{"data": [0.1, 0.2]}, {"name": "x", "data": [1]}, {"data": "x"}, {"hits": 3}, {"points": [3]}],
)
def test_an_object_that_lists_no_documents_is_one_itself(returned):
    assert [json.loads(document.content) for document in read_returned(returned)] == [returned]


def test_what_a_document_lists_beside_its_text_is_a_part_of_it():
    assert read_returned({"content": A, "data": [{"text": B}]}) == (Document(A),)


@given(st.lists(st.tuples(st.text(min_size=1), st.floats(0, 1)), min_size=1))
def test_pairs_are_as_many_documents_with_their_scores(pairs):
    returned = read_returned([[{"text": text}, score] for text, score in pairs])
    assert [(document.content, document.score) for document in returned] == pairs
