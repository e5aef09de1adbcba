import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

RESPONSE = {"response": "14 days.", "source_nodes": [], "metadata": None}


@pytest.mark.parametrize("added", [{}, {"query": "How long?"}, {"trace_id": "t-1", "app": "shop"}])
def test_a_response_is_recognised_with_whatever_its_producer_adds(added):
    (record,) = decode_value({**RESPONSE, **added}).records
    assert (record.format, record.document) == ("llamaindex_response", {**RESPONSE, **added})


@pytest.mark.parametrize(
    "value", [{"response": "x"}, {"response": "x", "source_nodes": None}, {"source_nodes": []}]
)
def test_other_responses_are_none(value):
    assert name_formats(value) == []


def test_too_many_source_nodes_are_refused():
    refusal = find_refusal(decode_value, {**RESPONSE, "source_nodes": [{}] * 4}, contexts=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "source_nodes")
