from __future__ import annotations

from dataclasses import fields

import pytest

from ragsonde.scoring.table import DEFAULT_FORMULAS, FORMULAS, build_scorers, find_formula
from ragsonde_schemas.assessment import Aspect

ROWS = {
    "context_position": ("position", "mastra:ContextPositionMetric", {Aspect.RELEVANT}, set()),
    "context_precision": ("precision", "mastra:createContextPrecisionScorer", {Aspect.RELEVANT}, set()),
    "context_relevance": (
        "weighted relevance",
        "mastra:createContextRelevanceScorerLLM",
        {Aspect.LEVEL, Aspect.USED},
        {Aspect.MISSING},
    ),
    "essential_context": ("essential share", "promptfoo:context-relevance", {Aspect.ESSENTIAL}, set()),
    "statement_relevancy": (
        "relevant statements (share)",
        "mastra:ContextRelevancyMetric",
        {Aspect.RELEVANT_SENTENCES},
        set(),
    ),
}


WIDER = {
    "faithfulness": {Aspect.CLAIMS},
    "answer_relevancy": {Aspect.ANSWER_STATEMENTS},
    "context_recall": {Aspect.REFERENCE_STATEMENTS},
    "context_utilization": {Aspect.RELEVANT, Aspect.USED},
    "signal_share": {Aspect.LEVEL},
    "rubric": {Aspect.RUBRICS},
}


def test_the_table_has_the_five_in_their_order_then_the_wider_set():
    assert [formula.id for formula in DEFAULT_FORMULAS] == list(ROWS)
    assert [formula.id for formula in FORMULAS] == [*ROWS, *WIDER]
    assert [formula.id for formula in FORMULAS if formula.is_default] == list(ROWS)


@pytest.mark.parametrize("name", WIDER)
def test_a_row_of_the_wider_set_needs_what_its_formula_reads(name):
    formula = find_formula(name)
    assert formula.needs == formula.needs_with_reference == WIDER[name]
    assert formula.optional == frozenset()


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_itself_its_origin_and_its_needs(name):
    formula = find_formula(name)
    display_name, alias, needs, optional = ROWS[name]
    assert formula.display_name == display_name
    assert find_formula(alias) is formula
    assert formula.needs == needs
    assert formula.optional == optional
    assert formula.origin.startswith("promptfoo" if alias.startswith("promptfoo") else "Mastra")


def test_only_precision_needs_something_else_with_a_reference():
    changed = {f.id: f.needs_with_reference for f in FORMULAS if f.needs_with_reference != f.needs}
    assert changed == {"context_precision": {Aspect.SUPPORTS}}


def test_only_essential_share_has_no_good_direction_and_is_not_rounded():
    assert [f.id for f in FORMULAS if f.direction == "target"] == ["essential_context"]
    assert [f.id for f in FORMULAS if not f.is_rounded] == ["essential_context"]
    assert all(f.direction == "higher" for f in FORMULAS if f.id != "essential_context")


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.id)
def test_a_row_says_how_to_read_it_and_what_to_try(formula):
    comparison = formula.comparison
    assert all(getattr(comparison, field.name) for field in fields(comparison))
    assert formula.remedies
    assert all(remedy.sign and remedy.evidence and remedy.action for remedy in formula.remedies)
    assert all(band.words for band in formula.bands)
    assert all(option.meaning for option in formula.options)


def test_no_name_means_two_formulas():
    names = [name for formula in FORMULAS for name in (formula.id, *formula.aliases)]
    assert len(names) == len(set(names))
    assert find_formula("unheard_of") is None


def test_no_configuration_gives_the_five_with_their_defaults():
    scorers = build_scorers(None)
    assert [scorer.instance for scorer in scorers] == list(ROWS)
    assert all(scorer.scale == 1 for scorer in scorers)
    assert all(scorer.threshold is None for scorer in scorers)
    assert scorers == build_scorers(dict.fromkeys(ROWS))
