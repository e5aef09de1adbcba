from __future__ import annotations

import json
from enum import StrEnum

from hypothesis import given
from hypothesis import strategies as st

from fakes.evaluations import make_assessment, make_full_trace
from ragsonde.storage.jsonb import clean_text, encode_json, encode_value
from ragsonde_schemas.assessment import Assessment

any_text = st.text(st.characters(codec=None))
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
    max_leaves=20,
)


def refuse(constant):
    raise AssertionError(constant)


class Fruit(StrEnum):
    PEAR = "pear"


@given(trees)
def test_any_tree_becomes_json_that_postgres_takes(tree):
    text = encode_json(tree)
    text.encode()
    for part in walk(json.loads(text, parse_constant=refuse)):
        assert "\x00" not in part


@given(st.recursive(st.none() | st.booleans() | st.text("ab\\u0d8ü"), st.lists))
def test_what_needs_no_mending_is_kept(tree):
    assert json.loads(encode_json(tree)) == tree


@given(any_text)
def test_a_clean_text_differs_only_where_it_must(text):
    cleaned = clean_text(text)
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        refused = before == "\x00" or "\ud800" <= before <= "\udfff"
        assert after == ("\ufffd" if refused else before)


def test_no_text_stays_none():
    assert clean_text(None) is None


def test_tuples_and_enums_are_json_too():
    assert json.loads(encode_json({"a": (1, Fruit.PEAR), Fruit.PEAR: float("inf")})) == {
        "a": [1, "pear"],
        "pear": "Infinity",
    }


def test_six_harmless_characters_are_no_nul():
    assert json.loads(encode_json(["\\u0000"])) == ["\\u0000"]


def test_a_value_comes_back_equal_without_its_defaults():
    assessment = make_assessment()
    assert Assessment.model_validate_json(encode_value(assessment)) == assessment
    assert json.loads(encode_value(Assessment())) == {}
    assert "contexts" not in json.loads(encode_value(make_full_trace(), exclude={"contexts"}))


def walk(tree):
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield key
            yield from walk(item)
    elif isinstance(tree, list):
        for item in tree:
            yield from walk(item)
