import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

PAYLOAD = {"id": "c", "call_type": "completion", "model": "m", "response_cost": 0.1, "messages": []}


def test_a_payload_is_recognised_and_one_record_as_it_came():
    (record,) = decode_value(PAYLOAD).records
    assert (record.format, record.document) == ("litellm_payload", PAYLOAD)


@pytest.mark.parametrize(
    "value", [{"call_type": "completion", "model": "m"}, {"model": "m", "response_cost": 1}]
)
def test_other_calls_are_none(value):
    assert name_formats(value) == []


def test_too_many_messages_are_refused():
    refusal = find_refusal(decode_value, {**PAYLOAD, "messages": [{}] * 4}, list_items=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "messages")
