from __future__ import annotations

from hashlib import sha256
from itertools import chain, combinations

import pytest

from fakes.judged_traces import WIDER_ASPECTS
from ragsonde.judging.instructions import (
    KEYS_OF,
    PROMPT_VERSION,
    build_schema,
    choose_keys,
    write_instructions,
)
from ragsonde.judging.options import Reasons
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.rubric import Rubric

RUBRICS = (
    Rubric(name="tone", question="Is it polite?", ratings=("1", "2", "3"), is_scale=True),
    Rubric(name="form", question="Is it formal?", ratings=("very", 'not "at all"'), is_scale=False),
)
SUBSETS = [
    frozenset(chosen) for chosen in chain.from_iterable(combinations(Aspect, size) for size in range(1, 5))
]


@pytest.mark.parametrize(
    ("aspects", "pinned"),
    [
        (frozenset(Aspect) - WIDER_ASPECTS, ("1", "a2eea54bbf49")),
        (WIDER_ASPECTS, ("1", "0ab0b4f7e9ab")),
    ],
    ids=["the five scorers", "the wider set"],
)
def test_every_word_of_the_instructions_is_pinned_to_the_prompt_version(aspects, pinned):
    text = write_instructions(choose_keys(aspects, reasons=Reasons.CONTEXT), RUBRICS)
    assert (PROMPT_VERSION, sha256(text.encode()).hexdigest()[:12]) == pinned, (
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


def test_rubrics_are_told_with_their_numbers_questions_and_ratings():
    keys = choose_keys(frozenset({Aspect.RUBRICS}), reasons=Reasons.NONE)
    text = write_instructions(keys, RUBRICS)
    assert "\n  question 1: Is it polite? Rating: a whole number from 1 (worst) to 3 (best)\n" in text
    assert text.endswith('  question 2: Is it formal? Rating: one of "very", "not \\"at all\\""')
    assert "polite" not in write_instructions(keys)


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
