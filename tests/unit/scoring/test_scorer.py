from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest

from ragsonde.scoring.table import build_scorers
from unit.scoring.rag_traces import make_trace

TRACE = make_trace(["one"])
WITH_REFERENCE = make_trace(["one"], reference="right")


def version_of(name, *, trace=TRACE, **options):
    (scorer,) = build_scorers({name: options})
    return scorer.version_for(trace)


def test_the_version_with_default_options_is_the_code_version():
    assert version_of("context_relevance") == "1"
    assert version_of("essential_context", units="auto") == "1"


def test_precision_has_its_basis_in_its_version():
    assert version_of("context_precision") == "1:answer"
    assert version_of("context_precision", trace=WITH_REFERENCE) == "1:reference"
    blank = make_trace(["one"], reference="  ")
    assert version_of("context_precision", trace=blank) == "1:answer"
    assert version_of("context_position", trace=WITH_REFERENCE) == "1"


def test_options_that_change_raw_are_six_hex_digits_of_the_version():
    strict = version_of("context_relevance", penalties={"unused_high": 0.2})
    assert re.fullmatch(r"1\+[0-9a-f]{6}", strict)
    assert re.fullmatch(r"1\+[0-9a-f]{6}:answer", version_of("context_precision", empty_context_score=0))


def test_options_that_leave_raw_alone_leave_the_version_alone():
    assert version_of("context_relevance", scale=10, threshold=0.5) == "1"


def test_a_default_given_in_words_or_by_alias_is_still_the_default():
    assert (
        version_of("context_relevance", penalties={"unusedHighRelevanceContext": 0.1, "missing_cap": 0.5})
        == "1"
    )
    original = version_of("context_relevance", penalties={"missingContextPerItem": 1})
    assert original == version_of("context_relevance", penalties={"missing_item": 1.0})


def test_every_other_option_gives_another_version():
    versions = [
        version_of("context_relevance", penalties={"unused_high": 0.2}),
        version_of("context_relevance", penalties={"unused_high": 0.3}),
        version_of("context_relevance", penalties={"missing_item": 0.2}),
        version_of("context_relevance", penalties={"missing_cap": 0.2}),
        version_of("context_relevance", empty_context_score=0),
        version_of("context_relevance", empty_context_score=1),
        version_of("essential_context", units="line"),
        version_of("essential_context", units="context"),
        version_of("statement_relevancy", statements="extracted"),
    ]
    assert len(set(versions)) == len(versions)


def test_the_version_is_the_same_on_every_machine():
    # sha256sum, of the compact JSON object whose keys are the dotted names in alphabetical order
    assert version_of("context_relevance", penalties={"unused_high": 0.2}) == "1+facc3b"
    both = {"unused_high": 0.2, "missing_cap": 0.4}
    assert version_of("context_relevance", penalties=both) == "1+b18e51"


def test_a_scorer_cannot_be_changed():
    (scorer,) = build_scorers({"context_relevance": {"scale": 10}})
    with pytest.raises(FrozenInstanceError):
        scorer.instance = "other"
    with pytest.raises(TypeError):
        scorer.options["scale"] = 1
    assert hash(scorer)
