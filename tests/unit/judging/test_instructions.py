from __future__ import annotations

from hashlib import sha256
from itertools import chain, combinations

import pytest

from ragsonde.judging.instructions import (
    KEYS_OF,
    PROMPT_VERSION,
    build_schema,
    choose_keys,
    write_instructions,
)
from ragsonde.judging.options import Reasons
from ragsonde_schemas.assessment import Aspect

EVERYTHING = choose_keys(frozenset(Aspect), reasons=Reasons.CONTEXT)
SUBSETS = [
    frozenset(chosen) for chosen in chain.from_iterable(combinations(Aspect, size) for size in range(1, 9))
]


def test_every_word_of_the_instructions_is_pinned_to_the_prompt_version():
    digest = sha256(write_instructions(EVERYTHING).encode()).hexdigest()[:12]
    assert (PROMPT_VERSION, digest) == ("1", "a2eea54bbf49"), (
        "raise PROMPT_VERSION with each change of the wording"
    )


def test_every_aspect_has_keys_that_are_explained():
    for aspect in Aspect:
        for key in KEYS_OF[aspect]:
            text = write_instructions(choose_keys(frozenset({aspect}), reasons=Reasons.NONE))
            assert f'"{key}": ' in text
            assert f"\n{key}: " in text


def test_keys_of_aspects_that_nobody_needs_are_left_out():
    text = write_instructions(choose_keys(frozenset({Aspect.USED}), reasons=Reasons.NONE))
    assert '{"c": [{"k": "1", "u": 0}]}' in text
    for key in ("r", "y", "s", "t", "rel", "need", "ins", "miss", "st", "why"):
        assert f'"{key}"' not in text
        assert f"\n{key}: " not in text


@pytest.mark.parametrize(
    ("reasons", "keys"),
    [
        (Reasons.NONE, ("y",)),
        (Reasons.TRACE, ("y", "why")),
        (Reasons.CONTEXT, ("y", "t", "why")),
    ],
)
def test_reasons_are_asked_for_as_configured(reasons, keys):
    assert choose_keys(frozenset({Aspect.RELEVANT}), reasons=reasons) == keys


def test_no_context_reason_without_a_context_verdict():
    assert choose_keys(frozenset({Aspect.MISSING}), reasons=Reasons.CONTEXT) == ("miss", "why")


def test_the_schema_has_exactly_the_keys_of_the_form_and_is_strict_everywhere():
    for aspects in SUBSETS:
        _check_schema(choose_keys(aspects, reasons=Reasons.CONTEXT))


def _check_schema(keys):
    schema = build_schema(keys)
    inside = {key for key in keys if key in {"r", "y", "s", "u", "t"}}
    assert set(schema["properties"]) == (set(keys) - inside) | ({"c"} if inside else set())
    for node in _walk(schema):
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        assert not node.keys() & {"enum", "minItems", "maxItems", "minimum", "maximum", "pattern"}
    if inside:
        assert set(schema["properties"]["c"]["items"]["properties"]) == inside | {"k"}


def _walk(schema):
    yield schema
    yield from chain.from_iterable(_walk(child) for child in schema.get("properties", {}).values())
    if "items" in schema:
        yield from _walk(schema["items"])
