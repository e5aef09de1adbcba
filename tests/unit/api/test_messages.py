import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.api.messages import read_messages, split_messages
from ragsonde.decoding.native import decode_native
from ragsonde.decoding.table import DEFAULT_FORMATS, JsonFormat
from ragsonde_schemas.errors import InputError

A, B = {"trace_id": "a"}, {"trace_id": "b"}
JSON_VALUES = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), min_size=1)


def split(text, *, is_lines=False):
    body = text if isinstance(text, bytes) else text.encode()
    return [(message.place, message.body) for message in split_messages(body, name="f", is_lines=is_lines)]


def test_lines_are_messages_with_their_line_numbers():
    text = f"{json.dumps(A)}\n\n{json.dumps(B)}\n"

    assert split(text) == [("f:1", json.dumps(A).encode()), ("f:3", json.dumps(B).encode())]


def test_a_broken_first_line_is_one_bad_line_and_not_one_bad_file():
    assert [place for place, _ in split('{"trace_id": \n{"trace_id": "b"}\n')] == ["f:1", "f:2"]


def test_one_value_over_several_lines_is_one_message():
    text = json.dumps(A, indent=2)

    assert split(text) == [("f", text.encode())]


def test_broken_json_over_several_lines_is_one_message_for_the_decoder_to_blame():
    text = '{\n "trace_id": "a",\n "query": \n}'

    assert split(text) == [("f", text.encode())]


def test_the_name_can_say_that_every_line_is_a_message():
    assert [place for place, _ in split("{\n}\n", is_lines=True)] == ["f:1", "f:2"]


def test_items_of_an_array_are_messages_with_the_lines_they_begin_in():
    text = '[\n {"trace_id": "a"},\n\n {"trace_id":\n "b"} ]\n'

    assert split(text) == [
        ("f:2 (item 1)", b'{"trace_id": "a"}'),
        ("f:4 (item 2)", b'{"trace_id":\n "b"}'),
    ]


RUN = {"id": "r", "trace_id": "t", "parent_run_id": None, "run_type": "chain", "inputs": {}}


def test_flat_runs_of_one_trace_are_one_message_named_by_the_first():
    below = {**RUN, "id": "b", "parent_run_id": "r"}
    first, second, third = (json.dumps(value) for value in (A, RUN, below))

    assert split(f"[{first},\n{second},\n{third}]") == [
        ("f:1 (item 1)", first.encode()),
        ("f:2 (item 2 and 1 more of its trace)", f"[{second}, {third}]".encode()),
    ]
    assert split(f"{first}\n\n{second}\n{third}") == [
        ("f:1", first.encode()),
        ("f:3 (and 1 more of its trace)", f"{second}\n{third}".encode()),
    ]


def test_a_list_that_a_format_of_others_takes_whole_stays_one_message():
    row = JsonFormat("acme", frozenset(), lambda value: isinstance(value, list), decode_native)
    formats = DEFAULT_FORMATS.extended([row])
    text = json.dumps([A, B])

    assert split_messages(text.encode(), name="f", formats=formats) == [("f", text.encode())]
    assert len(split(text)) == 2


def test_an_item_keeps_what_a_parser_would_lose():
    text = '[{"trace_id": "a", "trace_id": "b", "score": NaN}]'

    assert split(text) == [("f:1 (item 1)", text[1:-1].encode())]


@pytest.mark.parametrize("text", ['[{"a": 1},]', '[{"a": 1}', '[{"a": 1} {"b": 2}]', "[" * 100_000])
def test_what_is_no_whole_array_of_items_stays_one_message(text):
    assert split(text) == [("f", text.encode())]


@pytest.mark.parametrize("text", ["[]", " [\n] \n"])
def test_an_empty_list_is_no_message_that_could_be_mended_or_left_out(text):
    with pytest.raises(InputError, match=r"^f: holds an empty list"):
        split(text)


@pytest.mark.parametrize(
    "body",
    [b"\x0a\x10{\x00\x01", b"\n{\x10\x00}\n{}\n", b"\x1f\x8b\x08", b'{"a": "\xff"}\n{}', b"nonsense\n{}"],
)
def test_bytes_that_are_no_json_text_are_one_message(body):
    assert split(body) == [("f", body)]


def test_a_byte_order_mark_is_no_part_of_the_message():
    assert split(b"\xef\xbb\xbf{}") == [("f", b"{}")]


@pytest.mark.parametrize("body", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error_that_names_it(body):
    with pytest.raises(InputError, match=r"^f: is empty"):
        split_messages(body, name="f")


@given(st.lists(JSON_VALUES, min_size=2, max_size=5), st.integers(0, 3))
def test_values_come_back_from_lines_and_from_arrays(values, indent):
    lines = "\n".join(json.dumps(value) for value in values)
    array = json.dumps(values, indent=indent)

    assert [json.loads(body) for _, body in split(lines)] == values
    assert [json.loads(body) for _, body in split(array)] == values


@given(st.binary(min_size=1))
def test_any_bytes_become_messages_or_an_input_error(body):
    try:
        messages = split_messages(body, name="f")
    except InputError:
        return
    assert messages
    assert all(message.body for message in messages)


def test_a_file_is_read_and_its_suffix_counts(tmp_path):
    path = tmp_path / "traces.JSONL"
    path.write_text("{\n}\n", encoding="utf-8")

    assert [message.place for message in read_messages(path)] == [f"{path}:1", f"{path}:2"]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"trace_id": "a"}')))

    assert read_messages("-") == [("standard input", b'{"trace_id": "a"}')]


def test_a_standard_input_that_the_caller_closed_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(InputError, match=r"^standard input: is closed"):
        read_messages("-")


def test_a_file_that_is_not_there_is_an_error_that_says_what_is_expected(tmp_path):
    with pytest.raises(
        InputError, match=r"gone: cannot be read \(No such file.*expected a file of traces, or -"
    ):
        read_messages(tmp_path / "gone")
