import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

OUTPUT = {
    "my search": {"documents": [{"content": "A fact.", "score": 0.5}]},
    "llm": {"replies": ["14 days."]},
}


@pytest.mark.parametrize(
    "value",
    [
        OUTPUT,
        {"llm": {"replies": []}},
        {"answer_builder": {"answers": []}},
        {"retriever": {"documents": []}},
        {"result": OUTPUT, "query": "How long?"},
        {"trace_id": "t-1", "query": "How long?", **OUTPUT},
    ],
)
def test_a_result_is_recognised_by_what_its_components_delivered(value):
    (record,) = decode_value(value).records
    assert (record.format, record.document) == ("haystack_output", value)


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"documents": ["x"]}},
        {"a": {"documents": [{"name": "x"}]}},
        {"a": {"replies": "x"}},
        {"metadata": {"documents": []}},
        {"run_type": "chain", "outputs": {"documents": []}},
    ],
)
def test_other_objects_are_none(value):
    assert name_formats(value) == []


def test_too_many_documents_are_refused():
    documents = [{"content": "A fact."}] * 4
    refusal = find_refusal(decode_value, {"r": {"documents": documents}}, contexts=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "r.documents")
