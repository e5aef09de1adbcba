"""Expressions of the user's: what may take long is refused, and says why."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from builders.private_texts import make_redaction
from ragsonde.redaction.options import RedactionOptions
from ragsonde.redaction.own_patterns import compile_own


@pytest.mark.parametrize(
    "pattern",
    [
        r"EMP-\d{6}",
        r"(?:foo|bar)-\d{1,8}",
        r"(?<!\d)\d{9}(?!\d)",
        r"\b[A-Z]{2}\d{6,10}\b",
        r"(?i:kunde) \d{4}",
    ],
)
def test_bounded_expressions_are_taken(pattern):
    assert compile_own(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a+)+b", "without an upper bound"),
        (r"\d+", "without an upper bound"),
        (r"x.*y", "without an upper bound"),
        (r"(?:a{1,20}){1,20}b", "more than a million steps"),
        (r"(?:a|a|a){1,10}b", "steps from one place"),
        (r"(?P<a>x)(?P=a)", "refers back"),
        (r"a{0,3}", "empty text"),
        (r"(", "no regular expression"),
        (r"a{5000}", "expected at most 500"),
        ("a" * 501, "expected at most 500"),
    ],
)
def test_others_are_refused_with_the_reason(pattern, why):
    with pytest.raises(ValueError, match=why):
        compile_own(pattern)


def test_they_are_replaced_under_their_name():
    redaction = make_redaction(patterns=(), own={"employee": r"EMP-\d{6}"})

    assert redaction.replace(["EMP-123456 left"]).value == ("[employee] left",)
    assert redaction.kinds == ("employee",)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"patterns": ["emial"]}, "patterns: found 'emial', expected all, or some of key, email"),
        ({"own": {"email": "x"}}, "own: found the name 'email'"),
        ({"own": {"Employee": "x"}}, "own: found the name 'Employee'"),
        ({"own": {"employee": "x+"}}, r"own.employee: has a repeat without an upper bound"),
    ],
)
def test_settings_that_are_wrong_say_what_is_expected(options, told):
    with pytest.raises(ValidationError, match=told):
        RedactionOptions(**options)


def test_nothing_is_redacted_by_default():
    assert not RedactionOptions().is_on
    assert RedactionOptions(patterns="email, card").patterns == ("email", "card")
