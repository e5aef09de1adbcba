"""What names of apps, environments, releases and variants are stored as."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.trace_labels import LABEL_CHARACTERS, read_label

LONG = "A" * 300


def read(value: str | None) -> tuple[str, list[str]]:
    warnings: list[str] = []
    return read_label(value, "app", warnings), warnings


@pytest.mark.parametrize(
    ("value", "stored"),
    [(None, ""), (" ", ""), (" shop ", "shop"), ("shop  eu", "shop  eu"), ("A" * 100,) * 2],
)
def test_a_name_is_taken_as_it_is(value, stored):
    assert read(value) == (stored, [])


def test_two_long_names_that_begin_alike_stay_two():
    names = {read(LONG)[0], read(f'{LONG}"B"')[0], read("A" * 101)[0]}
    assert len(names) == 3
    assert f"{'A' * 91}~{hashlib.sha256(LONG.encode()).hexdigest()[:8]}" in names
    assert read(LONG)[1] == ["app: found 300 characters, cut to 100 with a digest"]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("shop\nHELP", "shop HELP"),
        ("a\tb\r\n c", "a b c"),
        ("sh\u202eop", "shop"),
        ("sh\u200bop", "shop"),
        ("\x1b[31mshop", "[31mshop"),
        ("\u200b", ""),
    ],
)
def test_what_is_not_printed_is_left_out(value, stored):
    assert read(value) == (stored, ["app: found characters that are not printed, left out"])


def test_a_name_that_series_use_for_all_others_is_called_differently():
    assert read(" other ") == (
        "other_",
        ["app: found other, which series call what has no name there; called other_"],
    )
    assert read("Other") == ("Other", [])


@given(st.text(max_size=300))
def test_whatever_comes_is_one_short_printed_line_and_comes_back_as_it_is(value):
    stored, _ = read(value)
    assert len(stored) <= LABEL_CHARACTERS
    assert stored.isprintable()
    assert read(stored) == (stored, [])
