from __future__ import annotations

import pytest

from ragsonde.judging.assessment_merging import MERGES, merge_assessments
from ragsonde_schemas.assessment import (
    PER_CONTEXT,
    Aspect,
    Assessment,
    ClaimVerdict,
    ContextVerdict,
    Fault,
    ReferenceStatementVerdict,
    RubricVerdict,
    StatementVerdict,
)
from ragsonde_schemas.errors import Cause

FAULT = Fault(cause=Cause.REFUSED, message="the reply is a refusal")


def merge(*parts):
    return merge_assessments([Assessment(**part) for part in parts])


def test_one_call_is_its_own_assessment():
    only = Assessment(missing=("x",), notes={"a": 1})
    assert merge_assessments([only]) is only


def test_there_is_a_rule_for_every_aspect():
    assert set(MERGES) | PER_CONTEXT == set(Aspect)


def test_each_context_once_in_order():
    one, two, ten = (ContextVerdict(relevant=value, used=False) for value in (True, False, True))
    merged = merge({"contexts": {"2": two}}, {"contexts": {"1": one, "10": ten}})
    assert list(merged.contexts.items()) == [("1", one), ("2", two), ("10", ten)]


def test_sentences_are_united_in_the_order_of_the_trace():
    merged = merge({"relevant_sentences": ("2.10", "10.1")}, {"relevant_sentences": ("2.9", "1.1")})
    assert merged.relevant_sentences == ("1.1", "2.9", "2.10", "10.1")


@pytest.mark.parametrize(
    ("parts", "essential", "insufficient"),
    [
        ([(("1.1",), False), (("2.1",), False)], ("1.1", "2.1"), False),
        ([((), True), (("2.1",), False)], ("2.1",), False),
        ([(("1.1",), True), (("2.1",), False)], ("2.1",), False),
        ([((), True), ((), True)], (), True),
    ],
)
def test_they_do_not_suffice_only_where_no_call_finds_that_they_do(parts, essential, insufficient):
    merged = merge(*[{"essential": need, "insufficient": flag} for need, flag in parts])
    assert (merged.essential, merged.insufficient) == (essential, insufficient)


def test_missing_is_what_every_call_misses():
    merged = merge({"missing": ("The price", "the  size.", "colour")}, {"missing": ("size", "the price!")})
    assert merged.missing == ("The price",)


def test_statements_are_united_and_repeats_collapse():
    one = StatementVerdict(context="1", text="A is b", relevant=True)
    two = StatementVerdict(context="2", text="A is b", relevant=False)
    assert merge({"statements": (one, one)}, {"statements": (two,)}).statements == (one, two)
    loose = {"text": "A is b", "context": None}
    fault = merge(
        {"statements": (StatementVerdict(**loose, relevant=True),)},
        {"statements": (StatementVerdict(**loose, relevant=False),)},
    ).faults[Aspect.STATEMENTS]
    assert fault.cause is Cause.VERDICT_MISMATCH


def test_claims_are_supported_where_any_call_finds_support():
    def claim(text, supported, *contexts):
        return ClaimVerdict(text=text, supported=supported, contexts=contexts)

    merged = merge(
        {"claims": (claim("It floats.", "no"), claim("It is red", "unsure"), claim("It sinks", "no"))},
        {"claims": (claim("it is red", "no"), claim("It floats", "yes", "2"), claim("It sinks", "no"))},
    )
    assert [(c.text, c.supported, c.contexts) for c in merged.claims] == [
        ("It floats.", "yes", ("2",)),
        ("It is red", "unsure", ()),
        ("It sinks", "no", ()),
    ]


def test_claims_that_are_not_the_same_are_no_verdict():
    one = {"claims": (ClaimVerdict(text="It floats", supported="yes"),)}
    other = {"claims": (ClaimVerdict(text="It swims", supported="no"),)}
    merged = merge(one, other)
    assert merged.claims is None
    assert merged.faults[Aspect.CLAIMS].cause is Cause.VERDICT_MISMATCH


def test_statements_of_the_reference_are_attributed_where_any_call_attributes_them():
    parts = [
        {"reference_statements": (ReferenceStatementVerdict(text="It floats", attributed=value),)}
        for value in (False, True)
    ]
    assert merge(*parts).reference_statements[0].attributed is True


def test_ratings_count_where_the_calls_agree():
    tone = {"rubrics": {"tone": RubricVerdict(rating="3")}}
    assert merge(tone, tone).rubrics == {"tone": RubricVerdict(rating="3")}
    other = {"rubrics": {"tone": RubricVerdict(rating="4")}}
    assert merge(tone, other).faults[Aspect.RUBRICS].cause is Cause.VERDICT_MISMATCH


def test_a_fault_in_one_call_is_the_aspects_fault_and_leaves_no_part_of_a_number():
    merged = merge(
        {"contexts": {"1": ContextVerdict(relevant=True, used=True)}, "missing": (), "essential": ("1.1",)},
        {"contexts": {"2": ContextVerdict(used=False)}, "faults": {"relevant": FAULT, "essential": FAULT}},
    )
    assert merged.faults == {Aspect.ESSENTIAL: FAULT, Aspect.RELEVANT: FAULT}
    assert merged.contexts == {"1": ContextVerdict(used=True), "2": ContextVerdict(used=False)}
    assert merged.essential is None
    assert merged.insufficient is None


def test_reasons_are_joined():
    assert merge({"reason": "One."}, {}, {"reason": "Two."}).reason == "One. Two."


def test_an_aspect_that_a_call_did_not_assess_was_not_assessed():
    assert merge({"missing": ("x",)}, {}).missing is None
