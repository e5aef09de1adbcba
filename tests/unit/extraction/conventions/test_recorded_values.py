from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.hostile_attributes import VALUES
from ragsonde.extraction.conventions.recorded_values import (
    find_names,
    is_unreadable_json,
    read_object,
    read_prefixed,
    read_value,
    write_rule,
)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("a text", "a text"),
        ('"a text"', "a text"),
        ('"\\"a text\\""', "a text"),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"Yes" and "no"', '"Yes" and "no"'),
        ('"', '"'),
        ("[1] A refund takes 14 days.", "[1] A refund takes 14 days."),
        ('{"a": 1}\n{"a": 2}', '{"a": 1}\n{"a": 2}'),
        ("42", "42"),
        (42, 42),
        (["as", "it", "is"], ["as", "it", "is"]),
        ("", None),
        ("  ", None),
        ('""', None),
        ("null", None),
        ('"null"', None),
        ('{"a": "cut o', None),
        ('[{"a": "cut o', None),
        ('["cut o', None),
        (None, None),
    ],
)
def test_json_in_strings_is_decoded_and_other_texts_stay(recorded, expected):
    assert expected == read_value(recorded)


@given(
    st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
)
def test_what_was_encoded_twice_is_read_as_what_was_encoded_once(value):
    once = json.dumps(value)
    assert read_value(json.dumps(once)) == read_value(once)


@given(VALUES)
def test_any_value_is_read(value):
    read_value(value)
    assert isinstance(read_object(value), dict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"a', True), ('[ {"a', True), ('["a', True), ("[1]", False), ("{a}", False), ("text", False)],
)
def test_a_text_that_begins_like_json_is_known(text, expected):
    assert expected is is_unreadable_json(text)


def test_attributes_below_a_prefix_are_gathered_decoded():
    attributes = {"a.b": '"x"', "a.c.d": "[1]", "a.": 1, "ab": 2}
    assert read_prefixed(attributes, "a.") == {"b": "x", "c.d": [1]}


def test_a_name_is_taken_from_the_first_place_that_holds_one():
    found = find_names(
        {"x.empty": " ", "x.object": {}, "x.number": 7, "x.quoted": '"q"', "x.model": "Unknown"},
        {"user_id": ("x.empty", "x.object", "x.number"), "app": ("x.quoted",), "model": ("x.model",)},
        convention="x",
    )
    assert {name: fact.value for name, fact in found.items()} == {"user_id": "7", "app": "q"}
    assert found["user_id"].evidence.rule == "x:number"
    assert found["user_id"].evidence.confidence == "exact"


@pytest.mark.parametrize(
    ("convention", "attribute", "expected"),
    [
        ("langfuse", "langfuse.trace.input", "langfuse:trace.input"),
        ("langfuse", "session.id", "langfuse:session.id"),
        ("vercel", "ai.prompt", "vercel:prompt"),
        ("trulens", "ai.observability.app_name", "trulens:app_name"),
        ("mlflow:tags", "env", "mlflow:tags.env"),
    ],
)
def test_a_rule_says_its_conventions_prefix_once(convention, attribute, expected):
    assert expected == write_rule(convention, attribute)
