"""The page of formats tells of every format, convention and cap that there is, and of no other."""

import re
from dataclasses import asdict
from pathlib import Path

from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde.extraction.conventions.table import CONVENTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text()
SPAN_FORMATS = {"otlp_protobuf", "otlp_json"}


def list_rows(heading):
    """The first cell of each row of the table with that heading, without its backticks."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [row.split("|")[1].strip().strip("`") for row in table.splitlines()[2:]]


def test_every_message_has_a_row_in_the_order_in_which_they_are_tried():
    rows = list_rows("format | message")
    json_names = [row.name for row in DEFAULT_FORMATS.json]
    assert set(rows) == set(DEFAULT_FORMATS.names)
    assert [name for name in rows if name in json_names] == json_names


def test_the_fields_of_every_format_are_told():
    of_messages, of_spans = list_rows("format | question"), list_rows("convention | question")
    assert sorted(of_messages) == sorted(set(DEFAULT_FORMATS.names) - SPAN_FORMATS - {"mixed"})
    assert of_spans == [convention.name for convention in CONVENTIONS]


def test_every_cap_has_its_value():
    told = {name: int(value.replace(",", "")) for name, value in re.findall(r"<!-- (\w+) -->([\d,]+)", PAGE)}
    assert told == asdict(DecodingLimits())
