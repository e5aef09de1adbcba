import json

import pytest

from ragsonde.extraction.documents import (
    Document,
    NullItem,
    omit_nulls,
    read_delivered,
    read_document,
    read_documents,
    read_name,
    read_score,
    unite_delivered,
)

TEXT = "A refund takes 14 days."


@pytest.mark.parametrize(
    "item",
    [
        TEXT,
        {"content": TEXT},
        {"text": TEXT},
        {"page_content": TEXT},
        {"pageContent": TEXT},
        {"node": {"text": TEXT}},
        {"kwargs": {"page_content": TEXT}},
        {"document": {"content": TEXT}},
        {"document": {"text": TEXT}, "index": 0},
        {"payload": {"text": TEXT, "page": 1}, "version": 3},
        {"payload": {"page_content": TEXT, "metadata": {"page": 1}}},
        {"content": [{"type": "text", "text": TEXT}]},
        {"document": {"content": [{"type": "text", "text": TEXT}]}},
        {"content": "", "text": TEXT},
        {"content": None, "text": " ", "page_content": TEXT},
        {"content": [], "text": TEXT},
        json.dumps(TEXT),
        json.dumps(json.dumps(TEXT)),
        json.dumps({"text": TEXT}),
        json.dumps(json.dumps({"node": {"text": TEXT}})),
    ],
)
def test_the_text_is_found_where_libraries_put_it(item):
    assert read_document(item).content == TEXT


@pytest.mark.parametrize(
    "item",
    [
        {"id": "d"},
        {"id_": "d"},
        {"node": {"id_": "d"}},
        {"kwargs": {"id": "d"}},
        {"document": {"id": "d"}},
    ],
)
def test_the_id_is_found_where_libraries_put_it(item):
    assert read_document({"content": TEXT, **item}).id == "d"


@pytest.mark.parametrize(
    "item",
    [
        {"score": 0.5},
        {"relevance_score": 0.5},
        {"relevanceScore": "0.5"},
        {"metadata": {"score": 0.5}},
        {"kwargs": {"metadata": {"score": 0.5}}},
        {"document": {"score": 0.5}},
    ],
)
def test_the_score_is_found_where_libraries_put_it(item):
    assert read_document({"content": TEXT, **item}).score == 0.5


def test_the_first_place_holds():
    item = {"content": "a", "text": "b", "id": "1", "id_": "2", "score": 1, "metadata": {"score": 2}}
    assert read_document(item) == Document("a", "1", 1.0, {"score": 2})


def test_several_text_parts_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_document({"content": parts}).content == "a\nb"


@pytest.mark.parametrize(
    "item",
    [
        {"document": {"content": TEXT, "metadata": {"page": 1}}},
        {"document": {"content": TEXT, "meta": {"page": 1}}},
        {"payload": {"text": TEXT, "metadata": {"page": 1}}},
    ],
)
def test_the_metadata_are_those_of_the_document_inside(item):
    assert read_document({"score": 0.5, "id": "d", **item}) == Document(TEXT, "d", 0.5, {"page": 1})


def test_a_document_whose_texts_are_all_blank_has_a_blank_text():
    assert read_document({"content": "", "text": " ", "id": "d"}) == Document("", "d")


def test_only_id_and_score_have_no_text():
    assert read_document({"id": "d", "score": 0.5}) == Document(None, "d", 0.5)
    assert read_document({"id": "d", "content": None, "metadata": None}) == Document(None, "d")
    assert read_document({"content": None}) == Document(None)


def test_any_other_object_is_its_json():
    about = {"page": 1}
    assert read_document({"metadata": about}) == Document('{"metadata": {"page": 1}}', metadata=about)
    assert read_document({"content": None, "metadata": about}) == Document(None, metadata=about)
    assert read_document({"id": "d", "metadata": about}) == Document(None, "d", metadata=about)
    assert read_document({"content": [{"type": "image"}]}).content == '{"content": [{"type": "image"}]}'
    assert read_document({"name": "käse", "id": "d"}) == Document('{"name": "käse", "id": "d"}', "d")
    assert read_document({}).content == "{}"
    assert read_document(5).content == "5"
    assert read_document(["a"]).content == '["a"]'


@pytest.mark.parametrize("text", ["[1, 2]", "5", "{broken", '"a" and "b"', '"', '""', "null", ""])
def test_a_text_that_holds_no_object_is_itself(text):
    assert read_document(text) == Document(text)


def test_a_null_in_a_list_is_told_apart_from_a_document_without_a_text():
    documents = read_documents(["a", None, {"content": None}])
    assert [isinstance(document, NullItem) for document in documents] == [False, True, False]
    assert omit_nulls(tuple(documents)) == (Document("a"), Document(None))


def test_without_nulls_nothing_stays_nothing_and_unknown_stays_unknown():
    assert omit_nulls((NullItem(None), NullItem(None))) is None
    assert (omit_nulls(()), omit_nulls(None)) == ((), None)


def test_what_several_returned_is_unknown_only_where_none_of_them_recorded_it():
    a, b = Document("a"), Document("b")
    assert unite_delivered([(a,), None, (), (b,)]) == (a, b)
    assert unite_delivered([None, ()]) == ()
    assert unite_delivered([None, None]) is unite_delivered([]) is None


def test_a_list_or_an_object_with_documents_is_a_list_of_documents():
    expected = [Document("a"), Document("b")]
    assert expected == read_documents(["a", {"text": "b"}]) == read_documents({"documents": ["a", "b"]})
    assert read_documents([]) == []
    assert expected == read_documents({"query": "q", "results": [{"content": "a"}, {"content": "b"}]})
    assert read_documents({"other": []}) is None
    assert read_documents("a") is None


@pytest.mark.parametrize("value", [None, True, "x", "nan", "inf", float("inf"), float("nan"), 10**400, [1]])
def test_what_is_no_finite_number_is_no_score(value):
    assert read_score(value) is None


@pytest.mark.parametrize(
    ("value", "name"), [("a", "a"), (7, "7"), ("", None), (" ", None), (True, None), (1.5, None)]
)
def test_names_are_texts_or_whole_numbers(value, name):
    assert name == read_name(value)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ('[{"text": "a"}, "b"]', ["a", "b"]),
        ([{"text": "a"}], ["a"]),
        ({"results": [{"content": "a", "url": "u"}]}, ["a"]),
        ('{"temperature": 7}', ['{"temperature": 7}']),
        ("plain", ["plain"]),
        (7, ["7"]),
        ('"quoted"', ["quoted"]),
        ("[]", []),
        ({"results": []}, []),
    ],
)
def test_what_a_tool_returned_is_a_list_or_one_text(value, texts):
    assert texts == [document.content for document in read_delivered(value)]


@pytest.mark.parametrize(
    "value", [None, "", " ", "null", " null ", '""', '" "', '"null"', {"documents": None}]
)
def test_blank_is_nothing_recorded(value):
    assert read_delivered(value) is None
