"""One test for each line of the rules that hold for all scorers."""

from __future__ import annotations

import math

import pytest

from ragsonde.scoring.context_relevance import PENALTIES, Penalties
from ragsonde.scoring.outcomes import find_skip, needed_aspects, score_all
from ragsonde.scoring.table import DEFAULT_FORMULAS, build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause, ConfigError
from unit.scoring.rag_traces import make_texts, make_trace
from unit.scoring.recorded_scores import by_number, score_one

NAMES = [formula.id for formula in DEFAULT_FORMULAS]
UNUSED = {
    "contexts": {"1": {"level": "high", "used": False}, "2": {"level": "high", "used": True}},
    "missing": ["a"],
}


def test_the_same_formula_runs_strict_and_lenient_over_one_assessment():
    config = {
        "lenient": {"scorer": "context_relevance", "penalties": {"unused_high": 0, "missing_item": 0.05}},
        "strict": {"scorer": "context_relevance", "penalties": {"unused_high": 0.2, "missing_item": 0.25}},
    }
    trace = make_trace(make_texts(2))
    lenient, strict = score_all(build_scorers(config), trace, read_assessment(UNUSED, trace))
    assert (lenient.scorer, lenient.raw) == ("lenient", 0.95)
    assert (strict.scorer, strict.raw) == ("strict", 0.55)
    assert lenient.version != strict.version


def test_unset_penalties_keep_their_defaults_and_the_originals_names_are_aliases():
    (scorer,) = build_scorers({"context_relevance": {"penalties": {"unusedHighRelevanceContext": 0.2}}})
    assert PENALTIES.of(scorer.options) == Penalties(unused_high=0.2, missing_item=0.15, missing_cap=0.5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0, -1])
def test_a_scale_of_0_or_less_is_a_configuration_error(name, scale):
    with pytest.raises(ConfigError, match="above 0"):
        build_scorers({name: {"scale": scale}})


def test_rounding_comes_after_scaling():
    trace = make_trace(make_texts(3))
    recorded = {"contexts": by_number("relevant", [True, False, True])}
    assert score_one("context_position", trace, recorded, scale=10).value == 7.27
    assert score_one("context_position", trace, recorded, scale=100).value == 72.73


def test_essential_share_is_raw_times_scale_unrounded():
    trace = make_trace(make_texts(3))
    assert score_one("essential_context", trace, {"essential": ["1"]}, scale=2).value == 1 / 3 * 2


@pytest.mark.parametrize(
    ("threshold", "passed"), [(None, None), (0.4, True), (0.41, False), (0, True), (1, False)]
)
def test_passed_is_raw_not_below_the_threshold_and_there_is_no_default(threshold, passed):
    trace = make_trace(make_texts(4))
    recorded = {"contexts": by_number("relevant", [False, True, True, False])}
    outcome = score_one("context_position", trace, recorded, threshold=threshold, scale=100)
    assert outcome.passed is passed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("contexts", "cause"),
    [(None, Cause.NO_CONTEXT), ([], Cause.EMPTY_RETRIEVAL), ([" "], Cause.EMPTY_RETRIEVAL)],
)
def test_no_contexts_are_skipped_without_a_judge_call(name, contexts, cause):
    trace = make_trace(contexts)
    (scorer,) = build_scorers({name: {}})
    assert needed_aspects((scorer,), trace) == frozenset()
    assert find_skip(scorer, trace).cause is cause


@pytest.mark.parametrize("name", NAMES)
def test_empty_context_score_turns_no_contexts_into_a_score(name):
    (scorer,) = build_scorers({name: {"empty_context_score": 1}})
    assert find_skip(scorer, make_trace([])).raw == 1
    assert find_skip(scorer, make_trace(None)).raw == 1
    assert find_skip(scorer, make_trace(["one"])) is None


@pytest.mark.parametrize("name", NAMES)
def test_no_question_is_skipped(name):
    assert score_one(name, make_trace(["one"], query=None), {}).cause is Cause.NO_QUERY


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("context_position", Cause.NO_ANSWER),
        ("context_precision", Cause.NO_ANSWER),
        ("context_relevance", Cause.NO_ANSWER),
        ("essential_context", None),
        ("statement_relevancy", None),
    ],
)
def test_no_answer_is_skipped_only_where_one_is_needed(name, cause):
    recorded = {"essential": ["1"], "relevant_sentences": ["1"]}
    outcome = score_one(name, make_trace(["one"], answer=None), recorded)
    assert (outcome.cause if outcome.status == "skipped" else None) is cause


def test_denominators_are_the_contexts_that_exist():
    texts = ["one", "", "three", " "]
    recorded = {
        "contexts": {
            "1": {"relevant": True, "level": "high", "used": True},
            "3": {"relevant": True, "level": "high", "used": True},
        }
    }
    trace = make_trace(texts)
    assert score_one("context_position", trace, recorded).raw == pytest.approx((1 + 1 / 3) / (25 / 12))
    assert score_one("context_precision", trace, recorded).raw == pytest.approx((1 + 2 / 3) / 2)
    assert score_one("context_relevance", trace, recorded).raw == 0.5


@pytest.mark.parametrize(
    "numbers", [["1"], ["1", "2", "3"], ["0", "1"], ["1", "3"]], ids=["missing", "extra", "from 0", "unknown"]
)
def test_missing_and_extra_numbers_are_a_mismatch(numbers):
    recorded = {"contexts": [{"number": n, "relevant": True} for n in numbers]}
    assert score_one("context_position", make_trace(make_texts(2)), recorded).cause is Cause.VERDICT_MISMATCH


def test_contradicting_repeats_are_a_mismatch_and_identical_ones_collapse():
    trace = make_trace(make_texts(2))
    once = [{"number": "1", "relevant": True}, {"number": "2", "relevant": False}]
    assert score_one("context_precision", trace, {"contexts": [*once, once[0]]}).raw == 1
    contradicting = [*once, {"number": "1", "relevant": False}]
    outcome = score_one("context_precision", trace, {"contexts": contradicting})
    assert outcome.cause is Cause.VERDICT_MISMATCH


def test_blank_contexts_keep_their_rank_and_are_irrelevant_none_and_unused():
    trace = make_trace(["", "two"])
    recorded = {"contexts": {"2": {"relevant": True, "level": "high", "used": True}}}
    assert score_one("context_precision", trace, recorded).raw == 0.5
    relevance = score_one("context_relevance", trace, recorded)
    assert relevance.raw == 0.5
    assert relevance.details["counts"] == {"high": 1, "medium": 0, "low": 0, "none": 1}
    assert relevance.details["has_unused_high"] is False


def test_blank_contexts_have_no_sentences():
    trace = make_trace(["One is here. Two is here.", "  "])
    assert score_one("statement_relevancy", trace, {"relevant_sentences": ["1.1"]}).raw == 0.5
    assert score_one("essential_context", trace, {"essential": ["1.1"]}).raw == 0.5


@pytest.mark.parametrize("word", ["YES", " yes ", "Yes.", "true", True, "\uff59\uff45\uff53"])
def test_verdict_words_are_folded_where_an_assessment_is_read(word):
    outcome = score_one("context_position", make_trace(["one"]), {"contexts": {"1": {"relevant": word}}})
    assert outcome.raw == 1


@pytest.mark.parametrize("word", ["maybe", "partially", "", 1, [], "yes, but no"])
def test_any_other_word_is_an_invalid_verdict(word):
    outcome = score_one("context_position", make_trace(["one"]), {"contexts": {"1": {"relevant": word}}})
    assert (outcome.status, outcome.cause) == ("error", Cause.INVALID_VERDICT)


def test_one_predicate_serves_the_score_and_the_reason():
    recorded = {"contexts": by_number("relevant", ["yes ", "No.", "TRUE"])}
    outcome = score_one("context_position", make_trace(make_texts(3)), recorded)
    assert outcome.value == 0.73
    assert "contexts 1 and 3 of 3 are relevant" in outcome.reason
    assert outcome.details["relevant"] == ["1", "3"]


def test_missing_items_are_stripped_and_counted_once():
    recorded = {
        "contexts": {"1": {"level": "high", "used": True}},
        "missing": [" Fee", "fee ", "", "  ", "FEE", "hours"],
    }
    outcome = score_one("context_relevance", make_trace(["one"]), recorded)
    assert outcome.raw == 0.7
    assert outcome.details["missing"] == ["Fee", "hours"]


def test_missing_items_alone_are_optional():
    recorded = {"contexts": {"1": {"level": "high", "used": True}}}
    outcome = score_one("context_relevance", make_trace(["one"]), recorded)
    assert outcome.raw == 1
    assert outcome.details["missing"] == "not_assessed"
    assert outcome.details["has_missing"] is False


@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_assessed_is_an_error(name):
    trace = make_trace(["one"])
    (scorer,) = build_scorers({name: {}})
    (outcome,) = score_all((scorer,), trace, Assessment())
    assert (outcome.status, outcome.cause) == ("error", Cause.NOT_ASSESSED)


def test_numbers_that_are_not_finite_are_an_error():
    outcome = score_one(
        "context_position", make_trace(["one"]), {"contexts": {"1": {"relevant": True, "x": math.nan}}}
    )
    assert (outcome.status, outcome.cause) == ("error", Cause.NOT_FINITE)


def test_details_explain_a_drop_of_relevance():
    trace = make_trace(make_texts(2))
    details = score_one("context_relevance", trace, UNUSED).details
    assert details == {
        "n_contexts": 2,
        "base": 1.0,
        "unused_high_penalty": 0.1,
        "missing_penalty": 0.15,
        "penalties": {"unused_high": 0.1, "missing_item": 0.15, "missing_cap": 0.5},
        "counts": {"high": 2, "medium": 0, "low": 0, "none": 0},
        "unused_high": ["1"],
        "n_unused_high": 1,
        "has_unused_high": True,
        "missing": ["a"],
        "n_missing": 1,
        "has_missing": True,
        "band": "good",
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_score_carries_its_band_and_its_number_of_contexts(name):
    recorded = {
        "contexts": {"1": {"relevant": True, "level": "high", "used": True}},
        "essential": ["1"],
        "relevant_sentences": ["1"],
    }
    outcome = score_one(name, make_trace(["one"]), recorded)
    assert outcome.details["band"] == outcome.band
    assert outcome.details["n_contexts"] == 1


@pytest.mark.parametrize(("n_contexts", "value"), [(3, 0.55), (5, 0.44), (10, 0.34)])
def test_position_moves_with_the_number_of_contexts(n_contexts, value):
    recorded = {"contexts": by_number("relevant", [True] + [False] * (n_contexts - 1))}
    outcome = score_one("context_position", make_trace(make_texts(n_contexts)), recorded)
    assert outcome.value == value
    assert outcome.details["n_contexts"] == n_contexts


def test_precision_says_its_basis_in_details_and_version():
    with_answer = score_one(
        "context_precision", make_trace(["one"]), {"contexts": by_number("relevant", [True])}
    )
    assert (with_answer.details["basis"], with_answer.version) == ("answer", "1:answer")
    trace = make_trace(["one"], reference="right")
    recorded = {"contexts": {"1": {"relevant": True, "supports": False}}}
    with_reference = score_one("context_precision", trace, recorded)
    assert (with_reference.details["basis"], with_reference.version) == ("reference", "1:reference")
    assert with_reference.raw == 0
