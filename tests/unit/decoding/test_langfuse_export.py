import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

OBSERVATION = {"id": "o", "traceId": "t-1", "type": "SPAN", "startTime": "2026-11-29T22:13:00Z"}
TRACE = {"id": "t-1", "timestamp": "2026-11-29T22:13:00Z", "observations": [OBSERVATION]}


@pytest.mark.parametrize(
    "value",
    [
        TRACE,
        {"trace": {"id": "t-1"}, "observations": []},
        {"trace": TRACE},
        {"id": "t-1", "timestamp": "2026-11-29", "projectId": "p", "input": "q"},
        {"id": "t-1", "observations": ["o1"], "scores": [], "htmlPath": "/x"},
    ],
)
def test_a_trace_is_recognised_and_one_record_as_it_came(value):
    (record,) = decode_value(value).records
    assert (record.format, record.document) == ("langfuse_export", value)


def test_a_page_is_a_record_a_trace():
    other = {**TRACE, "id": "t-2"}
    assert [record.document for record in decode_value({"data": [TRACE, other]}).records] == [TRACE, other]


def test_observations_alone_are_a_record_for_each_of_their_traces():
    other = {**OBSERVATION, "traceId": "t-2"}
    documents = [record.document for record in decode_value([OBSERVATION, other, OBSERVATION]).records]
    assert documents == [
        {"trace": {"id": "t-1"}, "observations": [OBSERVATION, OBSERVATION]},
        {"trace": {"id": "t-2"}, "observations": [other]},
    ]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (None, "found null, expected a trace"),
        ({"id": "t-3", "name": "x"}, "found an object, expected a trace with its observations"),
        ({"id": "o", "traceId": "t", "type": "SPAN"}, "found an observation without startTime"),
        ({"id": "o", "traceId": "t", "startTime": "2026-11-29"}, "found an observation without type"),
    ],
)
def test_a_bad_member_of_a_page_is_a_fault_beside_the_others(bad, told):
    decoded = decode_value({"data": [TRACE, bad, {**TRACE, "id": "t-2"}]})
    assert [record.document["id"] for record in decoded.records] == ["t-1", "t-2"]
    (fault,) = decoded.faults
    assert (fault.reason, fault.where) == (ParkReason.INVALID_MESSAGE, "data[1]")
    assert str(fault).startswith(f"data[1]: {told}")


def test_one_observation_is_a_trace_where_it_is_below_no_other():
    for value in (OBSERVATION, [OBSERVATION], {**OBSERVATION, "parentObservationId": None}):
        (record,) = decode_value(value).records
        assert record.document["trace"] == {"id": "t-1"}
    below = {**OBSERVATION, "parentObservationId": "p"}
    for value in (below, [below], {"data": [below]}):
        refusal = find_refusal(decode_value, value)
        assert refusal.where.endswith("parentObservationId")
        assert str(refusal).endswith("the list of all its observations, in one message")


def test_an_observation_alone_in_its_trace_is_a_fault_beside_another_trace():
    below = {**OBSERVATION, "traceId": "t-2", "parentObservationId": "p"}
    decoded = decode_value([OBSERVATION, below, OBSERVATION])
    assert [record.document["trace"]["id"] for record in decoded.records] == ["t-1"]
    assert [fault.where for fault in decoded.faults] == ["[1].parentObservationId"]


def test_a_record_warns_of_its_own_texts():
    records = decode_value(
        {"data": [TRACE, {**TRACE, "id": "t-2"}]}, mended=("data[1].input", "data[10].input")
    ).records
    assert [len(record.warnings) for record in records] == [0, 1]


@pytest.mark.parametrize(
    "value", [{"id": "t", "observations": []}, {"trace": {}}, {"data": [1]}, [TRACE, TRACE]]
)
def test_other_objects_are_none(value):
    assert name_formats(value) == []


def test_too_many_observations_are_refused():
    refusal = find_refusal(decode_value, {**TRACE, "observations": [OBSERVATION] * 4}, spans=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "observations")
    assert find_refusal(decode_value, [OBSERVATION] * 4, spans=3).reason is ParkReason.OVER_LIMIT
