from __future__ import annotations

import pytest

from ragsonde.scoring.verdict_words import read_flag, read_level, read_text
from ragsonde_schemas.assessment import Level

FULL_WIDTH_YES = "\uff39\uff25\uff33\u3002"


@pytest.mark.parametrize(
    "word", ["yes", "YES", " yes ", "yes.", "Yes!", "yes .", "true", "True;", True, FULL_WIDTH_YES, "yes\n"]
)
def test_words_that_mean_yes(word):
    assert read_flag(word) is True


@pytest.mark.parametrize("word", ["no", "No", "no,", "false", "FALSE.", False])
def test_words_that_mean_no(word):
    assert read_flag(word) is False


@pytest.mark.parametrize(
    "word",
    [
        "partially",
        "maybe",
        "",
        ".",
        "yes and no",
        "y",
        "none",
        1,
        0,
        1.0,
        [],
        {},
        "yes" + " x" * 50,
        "yes" * 99,
        "yes" + "." * 64,
    ],
)
def test_anything_else_is_no_flag(word):
    assert read_flag(word) is None


@pytest.mark.parametrize(
    ("word", "level"),
    [("high", Level.HIGH), (" Medium. ", Level.MEDIUM), ("LOW", Level.LOW), ("none", Level.NONE)],
)
def test_levels_are_read_like_flags(word, level):
    assert read_level(word) is level


@pytest.mark.parametrize("word", ["very high", "", True, 3, ["high"]])
def test_anything_else_is_no_level(word):
    assert read_level(word) is None


def test_texts_are_stripped_and_mended():
    assert read_text(" a\x00b\ud800 ") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
    assert read_text("   ") is None
    assert read_text(3) is None
