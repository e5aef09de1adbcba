from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ragsonde.scoring.formula import Computed
from ragsonde.scoring.outcomes import conclude, fail_all, find_skip, needed_aspects, score, score_all
from ragsonde.scoring.scorer import Scorer
from ragsonde.scoring.table import DEFAULT_FORMULAS, build_scorers, find_formula
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, ContextVerdict, Fault
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.score import Score, Unscored
from unit.scoring.rag_traces import make_texts, make_trace

TRACE = make_trace(make_texts(2))
FIVE = build_scorers(None)
WHOLE = {
    "contexts": {
        "1": {"relevant": True, "supports": True, "level": "high", "used": True},
        "2": {"relevant": False, "supports": False, "level": "low", "used": False},
    },
    "missing": [],
    "essential": ["1.1"],
    "relevant_sentences": ["1.1"],
}
ASSESSMENT = read_assessment(WHOLE, TRACE)


def make_outcome(cause=None, status="error"):
    if cause is None:
        return Score(scorer="s", version="1", raw=1, value=1, band="good", reason="1.00: good")
    return Unscored(status=status, scorer="s", version="1", cause=cause, reason="because")


def causes_of(outcomes):
    return {outcome.scorer: None if outcome.status == "scored" else outcome.cause for outcome in outcomes}


def replace_formula(**changes):
    """The five, with the formula of context_position changed."""
    broken = replace(find_formula("context_position"), **changes)
    return (Scorer("context_position", broken), *FIVE[1:])


def test_every_scorer_has_its_outcome_in_the_order_of_the_scorers():
    outcomes = score_all(FIVE, TRACE, ASSESSMENT)
    assert [outcome.scorer for outcome in outcomes] == [scorer.instance for scorer in FIVE]
    assert all(isinstance(outcome, Score) for outcome in outcomes)


def raise_error(_trace, _assessment, _computed_or_options, _options=None):
    raise ZeroDivisionError("secret \x00\ud800" + "x" * 1000)


@pytest.mark.parametrize(
    ("compute", "cause"),
    [
        (raise_error, Cause.INTERNAL_ERROR),
        (lambda *_: Computed(math.nan), Cause.NOT_FINITE),
        (lambda *_: Computed(math.inf), Cause.NOT_FINITE),
        (lambda *_: Computed(0.5, {"base": [math.nan]}), Cause.NOT_FINITE),
        (lambda *_: Computed(1.5), Cause.INTERNAL_ERROR),
        (lambda *_: Computed(-0.5), Cause.INTERNAL_ERROR),
        (lambda *_: None, Cause.INTERNAL_ERROR),
    ],
)
def test_a_formula_that_fails_costs_its_own_score_only(compute, cause):
    outcomes = score_all(replace_formula(compute=compute), TRACE, ASSESSMENT)
    assert causes_of(outcomes) == dict.fromkeys([s.instance for s in FIVE]) | {"context_position": cause}
    assert len(outcomes[0].reason) <= 300
    outcomes[0].model_dump_json()


def test_a_reason_that_fails_never_costs_the_score():
    outcomes = score_all(replace_formula(explain=raise_error), TRACE, ASSESSMENT)
    whole = score_all(FIVE, TRACE, ASSESSMENT)
    assert outcomes[0].raw == whole[0].raw
    assert outcomes[0].reason == "0.67: its reason could not be written, the details explain it"
    assert outcomes[0].details == whole[0].details | {"reason_error": "ZeroDivisionError"}
    assert outcomes[1:] == whole[1:]


def test_a_value_too_large_for_a_number_is_an_error():
    for name in ("context_position", "essential_context"):
        (scorer,) = build_scorers({name: {"scale": 1e308}})
        assert score(scorer, TRACE, ASSESSMENT).cause is Cause.NOT_FINITE


def test_a_fault_is_an_error_of_the_scorers_that_need_the_aspect():
    fault = Fault(cause=Cause.VERDICT_MISMATCH, message="1 verdict for 2 contexts: missing number 2")
    outcomes = score_all(FIVE, TRACE, ASSESSMENT.model_copy(update={"faults": {Aspect.RELEVANT: fault}}))
    assert causes_of(outcomes) == {
        "context_position": Cause.VERDICT_MISMATCH,
        "context_precision": Cause.VERDICT_MISMATCH,
        "context_relevance": None,
        "essential_context": None,
        "statement_relevancy": None,
    }
    assert outcomes[0].reason == "relevant: 1 verdict for 2 contexts: missing number 2"
    assert outcomes[0].details == {"n_contexts": 2, "aspect": "relevant"}


def test_what_was_not_assessed_is_an_error_but_missing_is_optional():
    outcomes = score_all(FIVE, TRACE, Assessment())
    assert causes_of(outcomes) == dict.fromkeys([s.instance for s in FIVE], Cause.NOT_ASSESSED)
    without = score_all(FIVE, TRACE, read_assessment({**WHOLE, "missing": None}, TRACE))
    assert all(isinstance(outcome, Score) for outcome in without)


def test_faulty_missing_items_are_an_error_though_absent_ones_are_none():
    outcomes = score_all(FIVE, TRACE, read_assessment({**WHOLE, "missing": [3]}, TRACE))
    assert causes_of(outcomes)["context_relevance"] is Cause.INVALID_VERDICT


@pytest.mark.parametrize(
    ("contexts", "cause"),
    [
        ({"1": ContextVerdict(relevant=True)}, Cause.VERDICT_MISMATCH),
        ({"1": ContextVerdict(relevant=True), "2": ContextVerdict()}, Cause.VERDICT_MISMATCH),
        ({n: ContextVerdict(relevant=True) for n in "123"}, Cause.VERDICT_MISMATCH),
        ({"1": ContextVerdict(), "2": ContextVerdict()}, Cause.NOT_ASSESSED),
    ],
)
def test_an_assessment_a_judge_built_itself_is_held_to_the_same_numbers(contexts, cause):
    assert score(FIVE[0], TRACE, Assessment(contexts=contexts)).cause is cause


def test_blank_contexts_are_irrelevant_whatever_the_judge_that_built_the_assessment_says():
    trace = make_trace(["one", " "])
    relevant = ContextVerdict(relevant=True)
    assert score(FIVE[1], trace, Assessment(contexts={"1": relevant})).details["relevant"] == ["1"]
    assert score(FIVE[1], trace, Assessment(contexts={"1": relevant, "2": relevant})).details["relevant"] == [
        "1"
    ]


def test_sentences_that_do_not_exist_are_a_mismatch_whoever_built_the_assessment():
    assessment = Assessment(essential=("9.9",), relevant_sentences=("1.2",))
    assert score(FIVE[3], TRACE, assessment).cause is Cause.VERDICT_MISMATCH
    assert score(FIVE[4], TRACE, assessment).cause is Cause.VERDICT_MISMATCH


@pytest.mark.parametrize(
    ("trace", "cause"),
    [
        (make_trace(None), Cause.NO_CONTEXT),
        (make_trace([]), Cause.EMPTY_RETRIEVAL),
        (make_trace(["", "  "]), Cause.EMPTY_RETRIEVAL),
        (make_trace(["one"], query=None), Cause.NO_QUERY),
        (make_trace(["one"], query="  "), Cause.NO_QUERY),
        (make_trace([], query=None, answer=None), Cause.EMPTY_RETRIEVAL),
    ],
)
def test_a_trace_with_nothing_to_score_is_skipped_before_any_judge_is_asked(trace, cause):
    assert needed_aspects(FIVE, trace) == frozenset()
    for scorer in FIVE:
        skip = find_skip(scorer, trace)
        assert (skip.status, skip.cause) == ("skipped", cause)
        assert skip.details == {"n_contexts": len(trace.contexts or ())}
        assert score(scorer, trace, Assessment()) == skip


def test_no_answer_skips_only_those_that_need_one():
    trace = make_trace(["one"], answer="  ")
    skipped = {scorer.instance for scorer in FIVE if find_skip(scorer, trace)}
    assert skipped == {"context_position", "context_precision", "context_relevance"}
    assert needed_aspects(FIVE, trace) == {Aspect.ESSENTIAL, Aspect.RELEVANT_SENTENCES}


def test_a_reference_stands_in_for_the_answer_of_precision():
    trace = make_trace(["one"], answer=None, reference="right")
    assert find_skip(FIVE[1], trace) is None
    assert needed_aspects(FIVE, trace) == {Aspect.ESSENTIAL, Aspect.RELEVANT_SENTENCES, Aspect.SUPPORTS}


def test_the_judge_is_asked_for_the_union_once_and_for_supports_only_with_a_reference():
    union = {
        Aspect.RELEVANT,
        Aspect.LEVEL,
        Aspect.USED,
        Aspect.MISSING,
        Aspect.ESSENTIAL,
        Aspect.RELEVANT_SENTENCES,
    }
    assert needed_aspects(FIVE, TRACE) == union
    assert needed_aspects(FIVE, make_trace(["one"], reference="right")) == union | {Aspect.SUPPORTS}
    extracted = build_scorers({"statement_relevancy": {"statements": "extracted"}})
    assert needed_aspects(extracted, TRACE) == {Aspect.STATEMENTS}
    assert needed_aspects((), TRACE) == frozenset()


@pytest.mark.parametrize(
    ("trace", "cause", "contexts"),
    [(make_trace([]), "empty_retrieval", 0), (make_trace(None), "no_context", 0)],
)
def test_empty_context_score_turns_the_skip_into_a_score(trace, cause, contexts):
    (scorer,) = build_scorers(
        {"context_position": {"empty_context_score": 0.25, "scale": 10, "threshold": 0.5}}
    )
    outcome = find_skip(scorer, trace)
    assert isinstance(outcome, Score)
    assert (outcome.raw, outcome.value, outcome.band, outcome.passed) == (0.25, 2.5, "low", False)
    assert outcome.version == scorer.version_for(trace)
    assert outcome.details == {
        "n_contexts": contexts,
        "empty_context_score": 0.25,
        "cause": cause,
        "band": "low",
    }
    assert "empty_context_score decides" in outcome.reason


def test_empty_context_score_says_nothing_about_a_missing_question():
    (scorer,) = build_scorers({"context_position": {"empty_context_score": 1}})
    assert find_skip(scorer, make_trace(["one"], query=None)).cause is Cause.NO_QUERY


def test_a_judge_that_gave_nothing_fails_all_but_the_skipped():
    outcomes = fail_all(FIVE, make_trace(["one"], answer=None), Cause.REFUSED, "the model refused")
    assert causes_of(outcomes) == {
        "context_position": Cause.NO_ANSWER,
        "context_precision": Cause.NO_ANSWER,
        "context_relevance": Cause.NO_ANSWER,
        "essential_context": Cause.REFUSED,
        "statement_relevancy": Cause.REFUSED,
    }
    assert outcomes[3].status == "error"
    assert outcomes[3].reason == "the model refused"


@pytest.mark.parametrize(
    ("outcomes", "state", "cause"),
    [
        ([make_outcome(), make_outcome(Cause.REFUSED)], EvaluationState.SCORED, None),
        (
            [make_outcome(Cause.NO_ANSWER, "skipped"), make_outcome(Cause.NO_ANSWER, "skipped")],
            EvaluationState.NOT_EVALUABLE,
            Cause.NO_ANSWER,
        ),
        (
            [
                make_outcome(Cause.REFUSED),
                make_outcome(Cause.INVALID_VERDICT),
                make_outcome(Cause.INVALID_VERDICT),
            ],
            EvaluationState.FAILED,
            Cause.INVALID_VERDICT,
        ),
        (
            [make_outcome(Cause.REFUSED), make_outcome(Cause.INVALID_VERDICT)],
            EvaluationState.FAILED,
            Cause.REFUSED,
        ),
        (
            [make_outcome(Cause.NO_ANSWER, "skipped")] * 3 + [make_outcome(Cause.REFUSED)],
            EvaluationState.FAILED,
            Cause.REFUSED,
        ),
        ([], EvaluationState.NOT_EVALUABLE, None),
    ],
)
def test_the_outcomes_conclude_the_evaluation(outcomes, state, cause):
    assert conclude(outcomes) == (state, cause)


def test_the_table_is_what_build_scorers_uses():
    assert tuple(scorer.formula for scorer in FIVE) == DEFAULT_FORMULAS
