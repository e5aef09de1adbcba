import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.traces import REFUND, make_trace
from ragsonde.api.traces import encode_mapping, read_items
from ragsonde_schemas.errors import InputError

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def test_every_kind_of_source_gives_the_same_trace(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(REFUND) + "\n", encoding="utf-8")

    sources = [path, str(path), json.dumps(REFUND), json.dumps([REFUND]).encode(), [REFUND], [make_trace()]]
    traces = [items[0].trace for items, bad in map(read_items, sources) if not bad and len(items) == 1]

    assert len(traces) == len(sources)
    assert all(trace == traces[0] for trace in traces)


def test_a_time_of_a_mapping_may_be_a_datetime_and_is_never_too_old():
    old = datetime(2001, 2, 3, 4, 5, tzinfo=UTC)

    items, _ = read_items([{**REFUND, "occurred_at": old}])

    assert items[0].trace.occurred_at == old


def test_what_is_no_trace_is_told_with_its_place_and_reason():
    items, bad = read_items([REFUND, {"trace_id": "x", "contexts": [5]}])

    assert [item.place for item in items] == ["item 1"]
    assert [message.place for message in bad] == ["item 2"]
    assert "contexts[0]" in bad[0].problem
    assert bad[0].problem.endswith("(invalid_message)")


@pytest.mark.parametrize("name", ["langchain_openinference.otlp.json", "langchain_openinference.otlp.pb"])
def test_a_message_of_a_real_producer_is_read(name):
    items, bad = read_items(SAMPLES / name)

    assert bad == []
    assert len(items) == 1
    assert items[0].trace.contexts


@pytest.mark.parametrize("given", [5, "text", None, [1]])
def test_an_item_that_is_no_mapping_is_an_error(given):
    with pytest.raises(InputError, match=r"item 1: found a .*, expected a mapping"):
        encode_mapping(given, place="item 1")


@pytest.mark.parametrize("value", [object(), {1, 2}])
def test_a_mapping_with_what_json_cannot_hold_is_an_error(value):
    with pytest.raises(InputError, match="item 1: cannot be written as JSON"):
        encode_mapping({"metadata": value}, place="item 1")
