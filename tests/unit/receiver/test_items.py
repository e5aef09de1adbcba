import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.decoding.array_items import find_items
from ragsonde.receiver.items import ITEMS_AT_MOST, Item, split_items
from ragsonde_schemas.errors import DecodeError, ParkReason

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(JSON_VALUES, max_size=5), st.sampled_from([None, 1]))
def test_the_items_of_an_array_are_its_values_in_order(values, indent):
    text = json.dumps(values, indent=indent)
    items = find_items(text)
    assert [json.loads(text[item.begin : item.end]) for item in items] == values
    assert [item.value for item in items] == values


@pytest.mark.parametrize(
    "text", ["", "{}", "[1", "[1,]", "[1] 2", "[,1]", "[1 2]", '["a]', "nothing", "[" * 100_000, "[nope]"]
)
def test_what_is_no_whole_array_has_no_items(text):
    assert find_items(text) is None


@given(st.text())
def test_any_text_is_cut_or_left_whole(text):
    find_items(text)


def test_each_item_of_an_array_is_a_message_of_its_own():
    assert split_items(b' [{"a": 1},\n {"b": [2]}] ', content_type="application/json") == [
        Item("item 1", b'{"a": 1}'),
        Item("item 2", b'{"b": [2]}'),
    ]


def test_lines_count_from_one_and_blank_ones_are_passed_over():
    assert split_items(b'{"a": 1}\n\n{"b": 2}\n', content_type="") == [
        Item("line 1", b'{"a": 1}'),
        Item("line 3", b'{"b": 2}'),
    ]


def test_one_object_over_many_lines_is_one_message():
    body = b'{\n "a": {\n },\n "b": 2\n}\n'
    assert split_items(body, content_type="") == [Item("body", body)]


def test_one_line_that_is_called_lines_is_a_line():
    assert split_items(b'{"a": 1}', content_type="application/x-ndjson") == [Item("line 1", b'{"a": 1}')]


def test_a_broken_array_stays_whole_so_that_its_decoder_tells_where_it_breaks():
    body = b'[{"a": 1}, {"b": }]'
    assert split_items(body, content_type="") == [Item("body", body)]


def test_protobuf_stays_whole():
    body = b"\x0a\x04\x0a\x02\x01\x02"
    assert split_items(body, content_type="") == [Item("body", body)]


def test_an_array_in_another_encoding_than_utf_8_stays_whole():
    body = b'["\xe4"]'
    assert split_items(body, content_type="") == [Item("body", body)]


def test_the_byte_order_mark_of_a_file_is_no_part_of_its_first_item():
    assert split_items(b"\xef\xbb\xbf[{}]", content_type="") == [Item("item 1", b"{}")]


def test_more_items_than_one_request_may_hold_are_refused():
    with pytest.raises(DecodeError, match="10001 items, expected at most 10000") as caught:
        split_items(b"[" + b",".join([b"1"] * (ITEMS_AT_MOST + 1)) + b"]", content_type="")
    assert caught.value.reason is ParkReason.OVERSIZE


RUN = {"id": "r", "trace_id": "t", "parent_run_id": None, "run_type": "chain", "inputs": {}}


def test_flat_runs_of_one_trace_are_one_message_and_the_others_are_their_own():
    below, other = {**RUN, "id": "b", "parent_run_id": "r"}, {**RUN, "id": "o", "trace_id": "u"}
    values = [RUN, {"trace_id": "n"}, other, below]
    texts = [json.dumps(value).encode() for value in values]
    assert split_items(b"[" + b",".join(texts) + b"]", content_type="") == [
        Item("item 1 and 1 more of its trace", b"[" + texts[0] + b", " + texts[3] + b"]"),
        Item("item 2", texts[1]),
        Item("item 3", texts[2]),
    ]
    assert split_items(b"\n".join(texts), content_type="") == [
        Item("line 1 and 1 more of its trace", texts[0] + b"\n" + texts[3]),
        Item("line 2", texts[1]),
        Item("line 3", texts[2]),
    ]


def test_a_line_that_is_no_json_is_an_item_for_its_decoder_to_blame():
    assert [item.place for item in split_items(b'garbage\n{"a": 1}\n', content_type="")] == [
        "line 1",
        "line 2",
    ]
