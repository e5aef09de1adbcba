"""Files of promptfoo's tests in the current folder, and what is read of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ragsonde.api.promptfoo import read_tests
from ragsonde_schemas.errors import InputError

QUESTION = "How long does a refund take?"
CONTEXT = "A refund is issued within 14 days."
ASSERTED = {"type": "context-relevance", "threshold": 0.3}


def write(content, name="rag.yaml") -> str:
    """The name of a file with a text, or with a value as YAML."""
    is_text = isinstance(content, str)
    text = content if is_text else yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
    Path(name).write_text(text, encoding="utf-8")
    return name


def read(content) -> list:
    """The tests in such a file."""
    return read_tests(write(content))


def read_one(**test) -> tuple:
    """The only test and its message; its question is set where it has none."""
    test.setdefault("vars", {}).setdefault("query", QUESTION)
    (one,) = read([test])
    return one, json.loads(one.body)


def fail(content) -> str:
    """What the file is refused with."""
    with pytest.raises(InputError) as caught:
        read(content)
    return str(caught.value)


def fail_one(**test) -> str:
    """What the only test is refused with; its question is set where it has none."""
    test.setdefault("vars", {}).setdefault("query", QUESTION)
    return fail([test])


def ignore(kind: str) -> str:
    """The note on assertions of a type that no formula stands for."""
    return f"assertions of type {kind} are not judged here; context-relevance is (essential_context)"
