from __future__ import annotations

import pytest
from hypothesis import given

from builders.hostile_attributes import VALUES
from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.documents import Document, NullItem

COLUMNS = {"ids": [["a", "b"], ["c"]], "documents": [["One.", "Two."], ["Three."]]}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ('[{"id": "a", "text": "One."}]', (Document("One.", "a"),)),
        ({"documents": [{"page_content": "One."}]}, (Document("One."),)),
        ("One.", (Document("One."),)),
        ({"ids": ["a"], "documents": ["One."]}, (Document("One.", "a"),)),
        (COLUMNS, (Document("One.", "a"), Document("Two.", "b"), Document("Three.", "c"))),
        (
            {"ids": ["a"], "documents": ["One."], "metadatas": [{"page": 1}]},
            (Document("One.", "a", metadata={"page": 1}),),
        ),
        ({"ids": [["a"]], "documents": [[None]]}, (Document(None, "a"),)),
        ({"ids": [[]], "documents": [[]]}, ()),
        ([], ()),
        ("[]", ()),
        (None, None),
        ("", None),
        ("null", None),
        ('"null"', None),
        ('"One."', (Document("One."),)),
        ({"output": " "}, None),
        ({"role": "tool", "content": ""}, None),
        (["One.", None], (Document("One."), NullItem(None))),
        ('[{"text": "cut', None),
    ],
)
def test_what_was_returned_is_documents(recorded, expected):
    assert expected == read_returned(recorded)


def test_columns_of_unequal_length_are_no_documents_by_column():
    assert [document.id for document in read_returned({"ids": ["a", "b"], "documents": ["One."]})] == [None]


@given(VALUES)
def test_any_value_is_read(value):
    documents = read_returned(value)
    assert documents is None or all(isinstance(document, Document) for document in documents)
