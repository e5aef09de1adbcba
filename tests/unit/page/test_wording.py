"""Numbers and ages as people read them."""

from datetime import timedelta

import pytest

from fakes.watching import NOON
from ragsonde.page.wording import find_interval, say_age, say_place, say_share
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
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 1000, "0.1 %"),
        (1, 100_000, "0.1 %"),
        (99_999, 100_000, "99.9 %"),
        (1, 3, "33 %"),
    ],
)
def test_a_share_is_never_none_or_all_where_it_is_not(part, whole, expected):
    assert say_share(part, whole) == expected


def test_the_unknown_app_has_a_name():
    assert say_place(Place(app="", environment="")) == "default"
    assert say_place(Place(app="shop", environment="staging")) == "shop, staging"


def test_the_interval_of_a_mean():
    # 1.96 * 0.3 / sqrt(36) = 0.098
    low, high = find_interval(0.6, deviation=0.3, n=36)
    assert (low, high) == (pytest.approx(0.502), pytest.approx(0.698))


def test_an_interval_stays_where_scores_are():
    assert find_interval(0.99, deviation=0.2, n=4) == (pytest.approx(0.794), 1.0)


@pytest.mark.parametrize(("deviation", "n"), [(None, 1), (0.0, 1), (None, 5)])
def test_one_score_has_no_interval(deviation, n):
    assert find_interval(0.5, deviation=deviation, n=n) is None
