import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal
from ragsonde.decoding.json_text import read_json
from ragsonde_schemas.errors import DecodeError, ParkReason

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def read(body, levels=64):
    return read_json(body, nesting_levels=levels)


def refuse(body, levels=64):
    with pytest.raises(DecodeError) as caught:
        read(body, levels)
    return caught.value


@given(JSON_VALUES)
def test_sound_json_comes_back_as_it_was(value):
    assert (value, (), (), None) == read(json.dumps(value).encode())
    assert (value, (), (), None) == read(json.dumps(value, ensure_ascii=False, indent=1).encode())


def test_a_byte_order_mark_is_skipped():
    assert read(b'\xef\xbb\xbf{"a": 1}').value == {"a": 1}


@pytest.mark.parametrize(("body", "offset"), [(b'{"a": "\xff"}', 7), (b'\xef\xbb\xbf{"\xc3\x28": 1}', 5)])
def test_invalid_utf8_is_refused_with_the_offset(body, offset):
    error = refuse(body)
    assert error.reason is ParkReason.INVALID_UTF8
    assert f"byte {offset} (0x" in str(error)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_are_no_numbers_are_refused_by_name_and_place(word):
    error = refuse(f'{{"a": "{word}",\n "score": {word}}}'.encode())
    assert error.reason is ParkReason.INVALID_JSON
    assert f"found {word} at line 2 column 11" in str(error)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" * 309, "9" * 5000])
def test_numbers_that_no_double_can_hold_are_refused(number):
    error = refuse(f'{{"latency_ms": {number}}}'.encode())
    assert error.reason is ParkReason.INVALID_JSON
    assert "at column 16" in str(error)
    assert len(str(error)) < 300


def test_the_largest_integers_a_double_can_hold_are_read():
    assert int("1" * 308) == read(b"1" * 308).value


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"trace_id": "a", "trace_id": "b"}', "trace_id"),
        (b'{"contexts": [{"content": "x"}, {"content": "y", "id": "1", "id": "1"}]}', "contexts[1].id"),
        (b'{"a": {"b": 1, "b": 2}, "a": 3}', "a"),
        (b'{"a": [{"c": {"b": 1, "b": 2}}]}', "a[0].c.b"),
    ],
)
def test_a_key_that_occurs_twice_is_refused_with_its_path(body, path):
    error = refuse(body)
    assert error.reason is ParkReason.INVALID_JSON
    assert path == error.where
    assert "occurs twice" in str(error)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"trace_id": "a", "contexts": [{"content": "x"', "truncated"),
        (b'{"trace_id": "a", "query": "How lo', "truncated"),
        (b'{"trace_id": ', "truncated"),
        (b'{"a": 1}\n{"a": 2}', "line 2 column 1; publish one JSON value, or one object a line"),
        (b"{'a': 1}", "at column 2"),
        (b'{"a": 1,\n "b": tru}', "line 2 column 7"),
        (b'{"a": "x\ny"}', "Invalid control character"),
        (b'{"a": "\0"}', "Invalid control character"),
        (b'{"a": "\\ud8"}', "Invalid \\uXXXX escape"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place(body, found):
    error = refuse(body)
    assert error.reason is ParkReason.INVALID_JSON
    assert found in str(error)


def test_content_is_never_quoted():
    assert "secret" not in str(refuse(b'{"query": "secret", secret}'))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_read_down_to_the_limit_and_refused_below(opening, closing):
    read((opening * 64 + "1" + closing * 64).encode())
    error = refuse((opening * 65 + "1" + closing * 65).encode())
    assert error.reason is ParkReason.INVALID_JSON
    assert "nested deeper than 64 levels at column" in str(error)


def test_very_deep_nesting_is_refused_and_not_followed():
    assert refuse(b"[" * 1_000_000).reason is ParkReason.INVALID_JSON


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\uDFFF", "\\ude00\\ud83d"])
def test_nul_and_lone_surrogates_are_mended_and_their_paths_told(escape):
    document = read(f'{{"a": ["x", "b{escape}c"], "k{escape}": 1}}'.encode())
    assert "\N{REPLACEMENT CHARACTER}" in document.value["a"][1]
    assert "a[1]" in document.mended
    json.dumps(document.value, ensure_ascii=False).encode()
    assert "\0" not in json.dumps(document.value, ensure_ascii=False)


def test_surrogate_pairs_and_escaped_backslashes_stay():
    document = read(b'{"a": "\\ud83d\\ude00", "b": "\\\\u0000"}')
    assert document.value == {"a": "\U0001f600", "b": "\\u0000"}
    assert document.mended == ()


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    refusal = find_refusal(read, body)
    assert refusal is None or refusal.reason in {ParkReason.INVALID_JSON, ParkReason.INVALID_UTF8}


@given(st.text('{}[]",:\\u0d8\n truefalsn1e-NI', max_size=60))
def test_anything_near_json_is_read_or_refused_with_a_place(text):
    refusal = find_refusal(read, text.encode())
    if refusal is None:
        json.dumps(read(text.encode()).value, allow_nan=False, ensure_ascii=False).encode()
    else:
        assert refusal.reason is ParkReason.INVALID_JSON
