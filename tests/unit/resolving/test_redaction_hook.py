"""Redaction with a function of the user's: what it fails on is not kept."""

from __future__ import annotations

import pytest

from builders.private_texts import make_redaction
from fakes.user_code import DirectCalls
from ragsonde.extraction.mapping_options import FunctionOptions
from ragsonde.resolving.redaction_hook import HookedRedaction
from ragsonde_schemas.errors import ConfigError, ExtractionError

MODULE = """
import threading

def mask(text):
    return text.replace("Anna", "[name]")

async def mask_later(text):
    return mask(text)

def give_nothing(text):
    return None

def fail(text):
    raise ValueError(text)

def leave(text):
    raise SystemExit(text)

def hang(text):
    threading.Event().wait()
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    (tmp_path / "masks.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def make(name, *, seconds=20.0, **options):
    hook = FunctionOptions(function=f"masks:{name}", timeout_seconds=seconds)
    return HookedRedaction(make_redaction(), hook, **options)


@pytest.mark.parametrize("name", ["mask", "mask_later"])
def test_it_sees_what_the_patterns_left_and_its_changes_count(name):
    kept = make(name, start_calls=DirectCalls).replace(["Anna, a@example.org", "", "nothing", "Anna"])

    assert kept.value == ("[name], [email]", "", "nothing", "[name]")
    assert kept.counts == {"email": 1, "hook": 2}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("fail", "redaction: hook masks:fail raised ValueError"),
        ("leave", "redaction: hook masks:leave raised SystemExit"),
        ("give_nothing", "redaction: hook masks:give_nothing gave null for a text, expected text"),
    ],
)
def test_what_it_fails_on_is_told_without_the_text(name, told):
    with pytest.raises(ExtractionError) as failed:
        make(name, start_calls=DirectCalls).replace(["Anna"])

    assert str(failed.value) == told


def test_one_that_hangs_is_given_up():
    redaction = make("hang", seconds=0.2)

    with pytest.raises(ExtractionError, match=r"hook masks:hang took longer than 0\.2 s"):
        redaction.replace(["Anna"])


def test_ids_and_log_lines_are_left_to_the_patterns():
    redaction = make("fail", start_calls=DirectCalls)

    assert redaction.replace_names(["Anna"]).value == ("Anna",)
    assert redaction.cover("a@example.org") == "[email]"


def test_one_that_is_not_there_is_a_wrong_setting():
    with pytest.raises(ConfigError, match=r"redaction\.hook: masks:nothing"):
        make("nothing", start_calls=DirectCalls)
