import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.embedded_json import read_embedded, read_plain
from ragsonde.extraction.nesting import find_too_deep


def test_objects_and_lists_are_read():
    assert read_embedded(' {"a": [1, 2.5, null]} ') == {"a": [1, 2.5, None]}
    assert read_embedded("[]") == []


def test_json_inside_json_strings_is_unwrapped():
    text = json.dumps({"a": 1})
    for _ in range(3):
        text = json.dumps(text)
        assert read_embedded(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "5",
        "true",
        "null",
        '"quoted"',
        '"a" and "b"',
        "{a: 1}",
        "{",
        '{"a": NaN}',
        "[1e400]",
        "[" + "9" * 400 + "]",
        "[" * 65 + "]" * 65,
        "[" * 100000,
    ],
)
def test_anything_else_is_none(text):
    assert read_embedded(text) is None


@pytest.mark.parametrize("times", range(5))
def test_a_text_written_as_json_is_unwrapped_as_often_as_it_was(times):
    text = "A refund takes 14 days."
    for _ in range(times):
        text = json.dumps(text)
    assert read_plain(text) == "A refund takes 14 days."


@pytest.mark.parametrize("text", ['"a" and "b"', '"', "[1] a", "{broken", "nullable"])
def test_any_other_text_is_itself(text):
    assert read_plain(text) == text


@pytest.mark.parametrize("text", ["", " ", '""', '" "', "null", ' "null" '])
def test_a_blank_text_and_null_are_nothing(text):
    assert read_plain(text) is None


def test_texts_inside_are_mended():
    assert read_embedded('{"a": "\\u0000", "b": "\\ud800"}') == {"a": "\ufffd", "b": "\ufffd"}


@given(st.text('{}[]",:\\u0d8 1eN-', max_size=40))
def test_any_text_is_an_object_a_list_or_none(text):
    assert isinstance(read_embedded(text), dict | list | None)


def count_depth(text):
    """An independent reading of nesting, character by character."""
    depth = deepest = 0
    is_inside = is_escaped = False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif is_inside:
            is_escaped = character == "\\"
            is_inside = character != '"'
        elif character == '"':
            is_inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


@given(st.text('[]{}"\\a', max_size=60), st.integers(1, 5))
def test_nesting_is_found_as_a_plain_scan_finds_it(text, limit):
    assert (count_depth(text) > limit) is (find_too_deep(text, limit=limit) is not None)


def test_the_offset_is_that_of_the_bracket_one_too_deep():
    assert find_too_deep('["[[[", [{"a": [', limit=3) == 15
