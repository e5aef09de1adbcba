"""Numbers and ages as people read them."""

from datetime import timedelta

import pytest

from fakes.watching import NOON
from ragsonde.page.wording import (
    drop_probability,
    mark_code,
    say_age,
    say_part,
    say_place,
    say_score,
    say_share,
)
from ragsonde_schemas.watched import Place


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "just now"),
        (0.4, "just now"),
        (12.9, "12 s ago"),
        (60, "1 min ago"),
        (7300, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds, expected):
    assert say_age(NOON - timedelta(seconds=seconds), now=NOON) == expected


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 0, "none"),
        (0, 10, "0\u00a0%"),
        (10, 10, "100\u00a0%"),
        (1, 1000, "0.1\u00a0%"),
        (1, 100_000, "0.1\u00a0%"),
        (99_999, 100_000, "99.9\u00a0%"),
        (1, 3, "33\u00a0%"),
    ],
)
def test_a_share_is_never_none_or_all_where_it_is_not(part, whole, expected):
    assert say_share(part, whole) == expected


def test_the_unknown_app_has_a_name():
    assert say_place(Place(app="", environment="")) == "default"
    assert say_place(Place(app="shop", environment="staging")) == "shop, staging"


def test_code_in_a_text_is_marked_and_all_of_it_escaped():
    assert mark_code("see `a < b` & more") == "see <code>a &lt; b</code> &amp; more"


@pytest.mark.parametrize(
    ("share", "expected"),
    [(1.0, ""), (0.25, "in a sample of 25\u00a0%"), (0.004, "in a sample of 0.4\u00a0%")],
)
def test_a_part_of_all_is_told(share, expected):
    assert say_part(share) == expected


def test_a_reason_is_told_without_the_number_behind_it():
    assert drop_probability("shares no word (p 0.47). Context 2: holds 9% (p 1.00)") == (
        "shares no word. Context 2: holds 9%"
    )
    assert drop_probability("page (p 3)") == "page (p 3)"


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "0.00"), (1.0, "1.00"), (0.125, "0.12"), (-0.1, "-0.10")]
)
def test_a_score_has_two_places_everywhere(value, expected):
    assert say_score(value) == expected
