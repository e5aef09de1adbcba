import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.decoding.json_text import read_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.strict_json import RefusedNumberError, parse_json
from ragsonde_schemas.errors import DecodeError

LEVELS = DecodingLimits().nesting_levels


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9" * 309])
def test_a_number_that_no_double_holds_is_refused_with_its_text(number):
    with pytest.raises(RefusedNumberError) as caught:
        parse_json(f"[{number}]")
    assert str(caught.value) == number


@pytest.mark.parametrize("number", ["1e308", "-0.0", "9" * 308, "5e-324"])
def test_a_number_that_a_double_holds_is_read_as_python_reads_it(number):
    assert parse_json(f"[{number}]") == [json.loads(number)]


def is_message(text):
    try:
        read_json(text.encode(), nesting_levels=LEVELS)
    except DecodeError:
        return False
    return True


@given(
    st.one_of(
        st.integers(300, 320).map(lambda digits: "7" * digits),
        st.integers(290, 320).map(lambda exponent: f"1.5e{exponent}"),
        st.integers(LEVELS - 4, LEVELS + 4).map(lambda depth: "[" * depth + "]" * depth),
        st.sampled_from(["NaN", "Infinity", "-1", "[]"]),
    )
)
def test_json_in_messages_and_json_in_attributes_are_read_alike(inner):
    text = f"[{inner}]"
    assert is_message(text) is (read_embedded(text) is not None)
