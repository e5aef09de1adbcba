"""A fall is told in the same words wherever it is told, also where little is known of it."""

from __future__ import annotations

import pytest

from ragsonde.regression.fall_wording import MOST_DAYS, say_chance, say_fall

TOLD = {"drop": 0.194, "drop_lower": 0.122, "drop_upper": 0.267}


def test_a_sentence_says_what_fell_how_far_and_since_when():
    assert say_fall("relevance", TOLD, since="02:40") == "relevance fell by 0.19 (0.12 to 0.27) since 02:40"


def test_numbers_are_written_as_the_place_writes_them():
    words = say_fall("relevance", TOLD, since="02:40", write=lambda drop: f"{drop * 10:.1f}")
    assert words == "relevance fell by 1.9 (1.2 to 2.7) since 02:40"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, "relevance fell since 02:40"),
        ({"drop": 0.2}, "relevance fell by 0.20 since 02:40"),
        ({"drop": 0.2, "drop_lower": None, "drop_upper": 0.3}, "relevance fell by 0.20 since 02:40"),
        ({"drop": "much", "drop_lower": 0.1, "drop_upper": 0.3}, "relevance fell since 02:40"),
        ({"drop": True}, "relevance fell since 02:40"),
    ],
)
def test_what_is_not_known_is_left_out(told, words):
    assert say_fall("relevance", told, since="02:40") == words


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (458.8, "once in 459 days"),
        (4581, "once in 4,581 days"),
        (1.2, "once in 1 day"),
        (MOST_DAYS, "once in 365,000 days"),
        (MOST_DAYS + 1, "once in more than 1,000 years"),
        (float("inf"), "once in more than 1,000 years"),
        ("365", None),
        (None, None),
        (True, None),
    ],
)
def test_evidence_is_told_by_how_often_chance_alone_shows_it(days, words):
    assert say_chance(days) == words
