from __future__ import annotations

import pytest

from ragsonde.judging import fingerprint
from ragsonde.judging.fingerprint import compute_fingerprint

GIVEN = {"kind": "litellm", "model": "openai/gpt-5-mini", "prompt_version": "1", "temperature": 0.0}


def test_it_is_16_hex_digits_and_the_same_each_time():
    first = compute_fingerprint(**GIVEN)
    assert len(first) == 16
    assert int(first, 16) >= 0
    assert compute_fingerprint(**GIVEN) == first


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "lexical"},
        {"model": "openai/gpt-5"},
        {"prompt_version": "2"},
        {"temperature": 0.5},
        {"temperature": None},
    ],
)
def test_whatever_may_change_verdicts_changes_it(change):
    assert compute_fingerprint(**{**GIVEN, **change}) != compute_fingerprint(**GIVEN)


def test_another_splitter_is_another_judge(monkeypatch):
    before = compute_fingerprint(**GIVEN)
    monkeypatch.setattr(fingerprint, "SPLITTER_VERSION", "another")
    assert compute_fingerprint(**GIVEN) != before


def test_parts_cannot_run_into_each_other():
    assert compute_fingerprint("a", model="bc") != compute_fingerprint("ab", model="c")
