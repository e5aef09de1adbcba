from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import describe_mending, mend_text, mend_value

MARK = "\N{REPLACEMENT CHARACTER}"


@given(st.text(st.characters(codec=None)))
def test_a_mended_text_can_be_stored_and_is_otherwise_the_same(text):
    mended = mend_text(text)
    assert "\0" not in mended
    mended.encode("utf-8")
    assert len(text) == len(mended)
    assert all(new in {old, MARK} for old, new in zip(text, mended, strict=True))


def test_texts_and_keys_at_any_depth_are_mended_and_told():
    value = {"a": ["x", {"b\0": "\ud800"}], "n": 1}
    assert mend_value(value) == ({"a": ["x", {f"b{MARK}": MARK}], "n": 1}, ('a[1]["b\\u0000"]',) * 2)


def test_sound_values_come_back_equal():
    value = {"a": [None, True, 1.5, "käse", {"日": "\U0001f600"}]}
    assert mend_value(value) == (value, ())


def test_many_warnings_are_counted_and_not_listed():
    assert len(describe_mending(("a",) * 20)) == 20
    assert describe_mending(("a",) * 25)[20:] == ("message: 5 more texts were mended",)


def test_a_path_is_written_with_dots_and_brackets():
    assert format_path("contexts", 2, "content") == "contexts[2].content"
    assert format_path("attributes", "input.value") == "attributes.input.value"
    assert format_path("a", "b c") == 'a["b c"]'
    assert format_path("x" * 1000) == f'["{"x" * 60}"]'
    assert format_path() == "message"
