import pytest

from ragsonde.extraction.foreign.trace_names import DERIVED, find_trace_name

DERIVED_ID = "015abd7f5cc57a2dd94b7590f04ad808"
"""printf '{"a":1}' | sha256sum | cut -c1-32"""


def test_the_first_id_that_can_be_kept_is_the_traces():
    assert find_trace_name({}, [None, "", 7, "t"]) == ("7", ())


@pytest.mark.parametrize("value", [None, "", " ", [], {}, True, "x" * 129, "a\nb"])
def test_without_one_the_content_names_it(value):
    assert find_trace_name({"a": 1}, [value]) == (DERIVED_ID, (DERIVED,))


def test_the_order_of_keys_does_not_matter():
    assert find_trace_name({"a": 1, "b": "é"}, []) == find_trace_name({"b": "é", "a": 1}, [])
