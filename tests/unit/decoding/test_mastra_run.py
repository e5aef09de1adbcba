import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

RUN = {"runId": "r", "input": {"inputMessages": []}, "output": []}


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        {"input": {"inputMessages": []}, "output": []},
        {"runId": "r", "input": "How long?", "output": {"text": "14 days."}},
        {"runId": "r", "output": None, "scorerId": "s", "entityId": "shop"},
    ],
)
def test_scorer_runs_of_agents_and_workflows_are_recognised(run):
    assert name_formats(run) == ["mastra_run"]


@pytest.mark.parametrize(
    "value", [{"runId": "r", "output": "x", "steps": []}, {"runId": 5, "output": []}, {"output": []}]
)
def test_other_runs_are_none(value):
    assert name_formats(value) == []


def test_a_run_is_one_record_as_it_came():
    decoded = decode_value(RUN)
    (record,) = decoded.records
    assert (decoded.format, record.format, record.document) == ("mastra_run", "mastra_run", RUN)


def test_a_mended_text_is_told():
    (record,) = decode_value(RUN, mended=("input.inputMessages[0].content",)).records
    assert record.warnings == ("input.inputMessages[0].content: NUL or lone surrogate replaced by U+FFFD",)


def test_too_many_messages_are_refused():
    refusal = find_refusal(decode_value, {**RUN, "output": [{}] * 4}, list_items=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "output")
