import json
from pathlib import Path

import pytest

from builders.foreign_documents import DECODERS, name_formats
from ragsonde.extraction.foreign.table import FOREIGN

SAMPLES = Path(__file__).parents[3] / "data" / "samples"
PLAIN = sorted(path for path in SAMPLES.glob("*.json") if not path.name.endswith(".expected.json"))


def test_every_decoder_has_rules_and_every_rule_a_decoder():
    assert FOREIGN.keys() == DECODERS.keys()


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_no_message_is_taken_for_two_formats(path):
    assert len(name_formats(json.loads(path.read_bytes()))) <= 1


@pytest.mark.parametrize(
    "extra",
    [
        {"response": "x", "source_nodes": []},
        {"run_type": "chain", "id": "r", "inputs": {}, "outputs": {}},
        {"runId": "r", "output": [], "threadId": "t"},
        {"call_type": "completion", "model": "m", "response_cost": 1},
        {"conversation_id": "c", "message_id": "m", "mode": "chat"},
        {"id": "t", "observations": [], "timestamp": "2026-11-30"},
        {"llm": {"replies": []}},
    ],
)
def test_a_native_message_is_never_taken_for_one_of_these(extra):
    native = {"trace_id": "t-1", "query": "How long?", "contexts": [], "answer": "14 days.", **extra}
    assert name_formats(native) == []


def test_a_native_messages_own_objects_are_no_components():
    native = {
        "trace_id": "t-1",
        "query": "q",
        "metadata": {"documents": [{"content": "x"}]},
        "reference": {"answers": []},
    }
    assert name_formats(native) == []


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, [1], {"data": []}, {"post": []}, {"trace": {}}, {"a": {"b": 1}}]
)
def test_anything_else_is_none_of_these(value):
    assert name_formats(value) == []
