from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.context_relevance import PENALTIES, Penalties
from ragsonde.scoring.essential_context import UNITS, Units
from ragsonde.scoring.statement_relevancy import STATEMENTS, StatementSource
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import ConfigError


def problems_of(config):
    with pytest.raises(ConfigError) as caught:
        build_scorers(config)
    return caught.value.problems


def penalties_of(penalties):
    (scorer,) = build_scorers({"context_relevance": {"penalties": penalties}})
    return PENALTIES.of(scorer.options)


def test_an_instance_may_have_any_name_and_name_its_formula():
    strict, lenient = build_scorers(
        {
            "relevance_strict": {"scorer": "context_relevance", "penalties": {"unused_high": 0.2}},
            "context_relevance": {},
        }
    )
    assert (strict.instance, strict.formula_id) == ("relevance_strict", "context_relevance")
    assert (lenient.instance, lenient.formula_id) == ("context_relevance", "context_relevance")


def test_aliases_of_the_originals_name_formulas_both_ways():
    by_key, by_option = build_scorers(
        {"promptfoo:context-relevance": None, "mine": {"scorer": "mastra:ContextPositionMetric"}}
    )
    assert (by_key.instance, by_key.formula_id) == ("promptfoo:context-relevance", "essential_context")
    assert by_option.formula_id == "context_position"


def test_unset_penalties_keep_their_defaults():
    assert penalties_of({}) == Penalties(0.1, 0.15, 0.5)
    assert penalties_of({"unused_high": 0.2}) == Penalties(0.2, 0.15, 0.5)
    assert penalties_of({"missing_cap": None}) == Penalties(0.1, 0.15, 0.5)
    assert penalties_of(None) == Penalties(0.1, 0.15, 0.5)


def test_the_originals_penalty_names_are_aliases():
    original = {
        "unusedHighRelevanceContext": 0.2,
        "missingContextPerItem": 0.25,
        "maxMissingContextPenalty": 0.6,
    }
    assert penalties_of(original) == Penalties(0.2, 0.25, 0.6)
    assert penalties_of({"missingContextPerItem": 0}) == Penalties(0.1, 0.0, 0.5)


def test_a_penalty_given_under_both_names_is_refused():
    (problem,) = problems_of(
        {"context_relevance": {"penalties": {"unused_high": 0.1, "unusedHighRelevanceContext": 0.2}}}
    )
    assert problem == (
        "scorers.context_relevance.penalties.unused_high: is given twice, once by its alias; keep one of them"
    )


@pytest.mark.parametrize("scale", [0, -1, 0.0, math.inf, -math.inf, math.nan, True, "1", [1], {}, 10**400])
def test_a_scale_that_is_no_number_above_0_is_refused(scale):
    (problem,) = problems_of({"context_position": {"scale": scale}})
    assert problem.startswith("scorers.context_position.scale: found ")
    assert problem.endswith(", expected a finite number above 0")


@pytest.mark.parametrize("option", ["threshold", "empty_context_score"])
@pytest.mark.parametrize("number", [-0.1, 1.1, math.nan, math.inf, True, "0.5"])
def test_a_share_outside_0_to_1_is_refused(option, number):
    (problem,) = problems_of({"essential_context": {option: number}})
    assert problem.startswith(f"scorers.essential_context.{option}: found ")
    assert problem.endswith(", expected a number from 0 to 1")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("unused_high", -0.1),
        ("missing_item", -1),
        ("missingContextPerItem", -1),
        ("missing_cap", -0.1),
        ("missing_cap", 1.01),
        ("maxMissingContextPenalty", 2),
        ("unused_high", math.nan),
        ("unused_high", math.inf),
        ("unused_high", True),
        ("unused_high", "0.1"),
    ],
)
def test_a_penalty_that_could_raise_a_score_is_refused(name, number):
    (problem,) = problems_of({"context_relevance": {"penalties": {name: number}}})
    assert problem.startswith(f"scorers.context_relevance.penalties.{name}: found ")


def test_edges_are_accepted():
    (scorer,) = build_scorers(
        {
            "context_relevance": {
                "threshold": 0,
                "penalties": {"unused_high": 5, "missing_item": 0, "missing_cap": 1},
            }
        }
    )
    assert scorer.threshold == 0
    assert PENALTIES.of(scorer.options) == Penalties(5.0, 0.0, 1.0)


def test_empty_context_score_may_be_switched_off_in_words():
    for off in (None, "none"):
        (scorer,) = build_scorers({"context_position": {"empty_context_score": off}})
        assert scorer.empty_context_score is None
    (scorer,) = build_scorers({"context_position": {"empty_context_score": 0}})
    assert scorer.empty_context_score == 0


def test_choices_are_words():
    essential, statements = build_scorers(
        {"essential_context": {"units": "line"}, "statement_relevancy": {"statements": "extracted"}}
    )
    assert UNITS.of(essential.options) is Units.LINE
    assert STATEMENTS.of(statements.options) is StatementSource.EXTRACTED
    assert statements.needs == {Aspect.STATEMENTS}
    (problem,) = problems_of({"essential_context": {"units": "sentences"}})
    assert problem == (
        "scorers.essential_context.units: found 'sentences', expected one of auto, sentence, line, context; "
        "did you mean sentence?"
    )
    assert (
        "expected one of sentences, extracted" in problems_of({"statement_relevancy": {"statements": 3}})[0]
    )


def test_an_unknown_scorer_is_answered_with_the_nearest():
    (problem,) = problems_of({"context_presision": {}})
    assert problem.startswith(
        "scorers.context_presision: 'context_presision' is no scorer; did you mean context_precision?"
    )
    assert "did you mean context_relevance?" in problems_of({"mine": {"scorer": "Context_Relevance"}})[0]


@pytest.mark.parametrize("name", ["", 3, True, ["context_position"], {}])
def test_a_scorer_that_is_no_name_is_refused(name):
    (problem,) = problems_of({"mine": {"scorer": name}})
    assert "is no scorer (known: context_position, " in problem


def test_an_unknown_option_is_answered_with_the_nearest():
    (problem,) = problems_of({"essential_context": {"treshold": 0.3}})
    assert problem == (
        "scorers.essential_context: 'treshold' is no option of essential_context; did you mean threshold? "
        "(known: scorer, scale, threshold, empty_context_score, units)"
    )
    (problem,) = problems_of(
        {"context_relevance": {"penalties": {"missing": 1, "unused": 1, "missing_capp": 1}}}
    )[2:]
    assert "did you mean missing_cap?" in problem


def test_an_option_of_another_formula_is_unknown():
    assert "is no option of context_position" in problems_of({"context_position": {"penalties": {}}})[0]


def test_every_problem_is_named_at_once():
    problems = problems_of(
        {
            "context_position": {"scale": 0, "treshold": 1},
            "context_relevance": {"penalties": {"unused_high": -1, "missing_cap": 2}},
            "unheard_of": {},
            "essential_context": 3,
            "bad name": {"scorer": "context_position", "scale": -1},
        }
    )
    assert len(problems) == 8


@pytest.mark.parametrize("config", [[], ["context_position"], "context_position", 3, {}])
def test_a_configuration_in_another_shape_is_refused(config):
    (problem,) = problems_of(config)
    assert problem.startswith("scorers: ")


@pytest.mark.parametrize("name", ["", " ", "a b", "x@1", "9", "\u00e9", "a" * 65, 3, None])
def test_an_instance_name_that_cannot_be_a_label_is_refused(name):
    problems = problems_of({name: {"scorer": "context_position"}})
    assert problems[0].startswith("scorers: found the name ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "scorer": JSON | st.just("context_relevance"),
        "scale": JSON,
        "threshold": JSON,
        "penalties": JSON | st.dictionaries(st.sampled_from(["unused_high", "missing_item"]), JSON),
        "empty_context_score": JSON,
        "units": JSON,
    },
)


@given(
    config=JSON | st.dictionaries(st.sampled_from(["context_relevance", "mine"]), JSON | OPTIONS, max_size=3)
)
def test_any_configuration_gives_scorers_or_a_config_error(config):
    problems = ()
    try:
        scorers = build_scorers(config)
    except ConfigError as error:
        scorers, problems = (), error.problems
    assert bool(scorers) is not bool(problems)
