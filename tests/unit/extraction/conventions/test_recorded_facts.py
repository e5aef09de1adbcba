from __future__ import annotations

import pytest
from hypothesis import given

from builders.hostile_attributes import VALUES
from ragsonde.extraction.conventions.recorded_facts import (
    collect_facts,
    read_cost,
    read_reference,
    read_tags,
    read_usage,
)
from ragsonde_schemas.trace import Reference


@pytest.mark.parametrize(
    "counts",
    [
        {"input": 3, "output": 2, "total": 5},
        {"input_tokens": "3", "output_tokens": 2.0, "total_tokens": 5},
        {"promptTokens": 3, "completionTokens": 2, "totalTokens": 5},
        {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
    ],
)
def test_tokens_are_counted_under_one_name_each(counts):
    assert read_usage(counts) == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def test_what_is_no_count_is_left_out():
    assert read_usage({"input": -1, "output": True, "total": "many"}) == {}


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ({"total": 0.5, "input": 9}, 0.5),
        ({"total_cost": "0.5"}, 0.5),
        ({"input": 0.25, "output": 0.5}, 0.75),
        ({"input_cost": 0.25}, 0.25),
        ({"total": -1}, None),
        ({}, None),
    ],
)
def test_a_cost_is_the_total_or_the_sum_of_its_parts(costs, expected):
    assert expected == read_cost(costs)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [(["a", 1, " "], ("a",)), ('["a", "b"]', ("a", "b")), ("a", ("a",)), ({"a": 1}, ()), (None, ())],
)
def test_tags_are_the_texts_of_a_list(recorded, expected):
    assert expected == read_tags(recorded)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("14 days.", Reference(answer="14 days.")),
        ({"expected_answer": "14 days.", "text": "else"}, Reference(answer="14 days.")),
        ({"answer": "14 days.", "contexts": ["One."]}, Reference(answer="14 days.", contexts=("One.",))),
        ({"contexts": [{"doc_uri": "faq.md"}]}, Reference(context_ids=("faq.md",))),
        ({"label": 1}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_reference_is_what_a_person_says_is_right(recorded, expected):
    assert expected == read_reference(recorded)


def test_fields_without_a_value_are_no_facts():
    found = collect_facts({"a": ("x", 0), "b": ("x", None), "c": ("x", ()), "d": ("x", {})}, convention="x")
    assert list(found) == ["a"]


@given(VALUES)
def test_any_value_is_read(value):
    read_tags(value)
    read_reference(value)
    counts = value if isinstance(value, dict) else {"input": value, "total": value}
    assert all(count >= 0 for count in read_usage(counts).values())
    assert (read_cost(counts) or 0) >= 0
