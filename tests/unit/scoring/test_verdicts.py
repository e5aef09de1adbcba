from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.outcomes import score_all
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, Certainty, ClaimVerdict, StatementVerdict
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.score import Score, Unscored
from unit.scoring.rag_traces import make_trace

TRACE = make_trace(["One alpha. One beta. One gamma.", " ", "Three alpha. Three beta."])


def read(**raw):
    return read_assessment(raw, TRACE)


def cause_of(aspect, **raw):
    return read(**raw).faults[aspect].cause


def test_what_is_not_there_is_absent_and_no_fault():
    assert read_assessment({}, TRACE) == Assessment()
    assert read_assessment({"trace_id": "t", "unheard_of": 3}, TRACE) == Assessment()


@pytest.mark.parametrize("raw", [None, [], "yes", 3, True])
def test_what_is_no_object_is_a_fault_in_every_aspect(raw):
    assert set(read_assessment(raw, TRACE).faults) == set(Aspect)


def test_only_the_aspects_asked_for_are_read():
    raw = {"contexts": {"1": {"relevant": 7}}, "essential": ["1.1"], "missing": [7], "statements": 7}
    assessment = read_assessment(raw, TRACE, aspects=frozenset({Aspect.ESSENTIAL}))
    assert assessment == Assessment(essential=("1.1",), insufficient=False)


@pytest.mark.parametrize("key", ["essential", "relevant_sentences"])
def test_sentences_come_in_the_order_of_the_trace_each_once(key):
    assert getattr(read(**{key: ["3.2", "1.1", "3.2"]}), key) == ("1.1", "3.2")


@pytest.mark.parametrize("key", ["essential", "relevant_sentences"])
def test_a_context_number_alone_means_all_its_sentences(key):
    assert getattr(read(**{key: ["3", 1]}), key) == ("1.1", "1.2", "1.3", "3.1", "3.2")
    assert getattr(read(**{key: ["1", "1.2"]}), key) == ("1.1", "1.2", "1.3")


@pytest.mark.parametrize("key", ["essential", "relevant_sentences"])
def test_what_names_a_blank_context_is_ignored(key):
    assert getattr(read(**{key: ["2", "2.1", "1.1"]}), key) == ("1.1",)


@pytest.mark.parametrize("key", ["essential", "relevant_sentences"])
@pytest.mark.parametrize("number", ["1.4", "4", "4.1", "0", "1.0", "one", "", "1.1.1", "1."])
def test_a_sentence_that_does_not_exist_is_a_mismatch_and_named(key, number):
    fault = read(**{key: ["1.1", number]}).faults[Aspect(key)]
    assert fault.cause is Cause.VERDICT_MISMATCH
    assert (number or "''") in fault.message


@pytest.mark.parametrize("key", ["essential", "relevant_sentences"])
@pytest.mark.parametrize("items", ["1.1", 3, True, {"1.1": True}, [1.1], [True], [None], [["1.1"]]])
def test_sentences_in_another_shape_are_invalid(key, items):
    assert cause_of(Aspect(key), **{key: items}) is Cause.INVALID_VERDICT


@pytest.mark.parametrize("key", ["essential", "relevant_sentences", "missing", "statements"])
@pytest.mark.parametrize("items", [math.nan, [math.nan], [math.inf]])
def test_non_finite_numbers_in_lists_are_a_fault(key, items):
    assert cause_of(Aspect(key), **{key: items}) is Cause.NOT_FINITE


def test_insufficient_alone_is_an_assessment_of_what_is_essential():
    assert read(insufficient="Yes.") == Assessment(essential=(), insufficient=True)
    assert read(insufficient=False) == Assessment()
    assert read(essential=[]) == Assessment(essential=(), insufficient=False)


def test_insufficient_in_other_words_is_invalid():
    assert cause_of(Aspect.ESSENTIAL, essential=["1.1"], insufficient="perhaps") is Cause.INVALID_VERDICT


def test_missing_items_lose_blanks_and_repeats():
    assert read(missing=[" Fee ", "", "  ", "fee", "FEE", "date"]).missing == ("Fee", "date")
    assert read(missing=[]).missing == ()


@pytest.mark.parametrize("items", ["fee", {"fee": 1}, ["fee", 3], [None], 3])
def test_missing_items_in_another_shape_are_invalid(items):
    assert cause_of(Aspect.MISSING, missing=items) is Cause.INVALID_VERDICT


def test_statements_are_read_with_their_context_and_reason():
    items = [
        {"context": 1, "text": " One. ", "relevant": "YES", "reason": "it is"},
        {"context": None, "text": "Two", "relevant": False},
    ]
    assert read(statements=items).statements == (
        StatementVerdict(context="1", text="One.", relevant=True, reason="it is"),
        StatementVerdict(text="Two", relevant=False),
    )


def test_a_repeated_statement_counts_once_and_a_contradicting_one_is_a_mismatch():
    first = {"context": "1", "text": "One", "relevant": True}
    assert len(read(statements=[first, first | {"text": "one"}, first | {"context": "3"}]).statements) == 2
    contradiction = [first, first | {"relevant": False}]
    assert cause_of(Aspect.STATEMENTS, statements=contradiction) is Cause.VERDICT_MISMATCH


@pytest.mark.parametrize("items", [[], [{"context": "2", "text": "of a blank one", "relevant": True}]])
def test_no_statement_of_a_context_that_is_not_blank_is_a_fault_of_its_own(items):
    assert cause_of(Aspect.STATEMENTS, statements=items) is Cause.NO_STATEMENTS


@pytest.mark.parametrize(
    ("item", "cause"),
    [
        ({"text": "One", "relevant": "maybe"}, Cause.INVALID_VERDICT),
        ({"text": "One"}, Cause.INVALID_VERDICT),
        ({"text": " ", "relevant": True}, Cause.INVALID_VERDICT),
        ({"relevant": True}, Cause.INVALID_VERDICT),
        ("One", Cause.INVALID_VERDICT),
        ({"text": "One", "relevant": True, "context": "9"}, Cause.VERDICT_MISMATCH),
        ({"text": "One", "relevant": True, "context": 1.0}, Cause.VERDICT_MISMATCH),
    ],
)
def test_a_statement_that_cannot_be_used_is_a_fault(item, cause):
    good = {"text": "Good", "relevant": True}
    assert cause_of(Aspect.STATEMENTS, statements=[good, item]) is cause


def test_sentences_that_were_not_shown_cannot_be_named():
    assessment = read(sentences_shown=["1.1", "3"], essential=["1", "3.2"], relevant_sentences=["1.2"])
    assert assessment.sentences_shown == ("1.1", "3.1", "3.2")
    assert assessment.truncated
    assert assessment.essential == ("1.1", "3.2")
    assert assessment.faults[Aspect.RELEVANT_SENTENCES].cause is Cause.VERDICT_MISMATCH


def test_unusable_sentences_shown_are_a_fault_of_both_sentence_aspects():
    assessment = read(sentences_shown=["9.9"], essential=["1.1"], relevant_sentences=["1.1"])
    assert set(assessment.faults) == {Aspect.ESSENTIAL, Aspect.RELEVANT_SENTENCES}
    assert assessment.sentences_shown is None


def test_the_reason_of_the_whole_is_read_as_reason_or_why():
    assert read(reason=" so ").reason == "so"
    assert read(why="so").reason == "so"
    assert read(reason=7).reason is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["1", "2", "3", "1.1", "3.2", "yes", "no.", "high", "\ud800", "\x00"])
    | st.just(10).map(lambda ten: ten**5000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
ENTRY = st.dictionaries(
    st.sampled_from(["relevant", "supports", "level", "used", "reason", "number"]), JSON, max_size=6
)
TEXT_ITEM = st.dictionaries(
    st.sampled_from(["text", "supported", "relevant", "attributed", "contexts"]), JSON, max_size=5
)
EVERY_SCORER = build_scorers(
    {formula.id: {} for formula in FORMULAS if not formula.is_named}
    | {"rubric:tone": {"question": "Is it polite?", "points": 5}}
)
NEAR = st.fixed_dictionaries(
    {},
    optional={
        "contexts": JSON
        | st.lists(ENTRY, max_size=4)
        | st.dictionaries(st.sampled_from("1234"), ENTRY, max_size=4),
        "missing": JSON,
        "essential": JSON | st.lists(st.sampled_from(["1", "1.1", "3.2", "2"]), max_size=4),
        "insufficient": JSON,
        "relevant_sentences": JSON | st.lists(st.sampled_from(["1", "1.1", "3.2", "2"]), max_size=4),
        "statements": JSON
        | st.lists(st.dictionaries(st.sampled_from(["text", "relevant", "context"]), JSON), max_size=3),
        "claims": JSON | st.lists(TEXT_ITEM, max_size=3),
        "answer_statements": JSON | st.lists(TEXT_ITEM, max_size=3),
        "reference_statements": JSON | st.lists(TEXT_ITEM, max_size=3),
        "rubrics": JSON | st.dictionaries(st.sampled_from(["tone", "x"]), JSON, max_size=2),
        "sentences_shown": JSON,
        "truncated": JSON,
        "reason": JSON,
    },
)


@given(raw=JSON | NEAR)
def test_any_json_becomes_an_assessment_and_an_outcome_for_every_scorer(raw):
    assessment = read_assessment(raw, TRACE)
    assert isinstance(assessment, Assessment)
    assessment.model_dump_json()
    outcomes = score_all(EVERY_SCORER, TRACE, assessment)
    assert len(outcomes) == len(FORMULAS)
    for outcome in outcomes:
        assert isinstance(outcome, Score | Unscored)
        assert outcome.status == "scored" or outcome.cause is not Cause.INTERNAL_ERROR, outcome
        outcome.model_dump_json()


@pytest.mark.parametrize(
    ("key", "item"),
    [
        ("claims", {"text": "One", "supported": "maybe"}),
        ("claims", {"text": "One"}),
        ("claims", {"supported": "yes"}),
        ("claims", {"text": "One", "supported": "yes", "contexts": "1"}),
        ("answer_statements", {"text": " ", "relevant": "yes"}),
        ("answer_statements", {"text": "One", "relevant": 1}),
        ("reference_statements", {"text": "One", "attributed": "unsure"}),
        ("reference_statements", "One"),
    ],
)
def test_a_claim_or_statement_in_another_form_is_invalid(key, item):
    assert cause_of(Aspect(key), **{key: [item]}) is Cause.INVALID_VERDICT
    assert cause_of(Aspect(key), **{key: item}) is Cause.INVALID_VERDICT


def test_claims_keep_the_contexts_that_support_them_in_order_without_blank_ones():
    claim = {"text": " One. ", "supported": "Unsure.", "contexts": [3, "2", "1"]}
    assert read(claims=[claim]).claims == (
        ClaimVerdict(text="One.", supported=Certainty.UNSURE, contexts=("1", "3")),
    )
    wrong = cause_of(Aspect.CLAIMS, claims=[{**claim, "contexts": ["4"]}])
    assert wrong is Cause.VERDICT_MISMATCH


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("claims", "supported"), ("answer_statements", "relevant"), ("reference_statements", "attributed")],
)
def test_a_repeated_claim_counts_once_and_a_contradicting_one_is_a_mismatch(key, verdict):
    first = {"text": "One", verdict: "yes"}
    assert len(getattr(read(**{key: [first, {"text": "ONE", verdict: True}]}), key)) == 1
    assert cause_of(Aspect(key), **{key: [first, {**first, verdict: "no"}]}) is Cause.VERDICT_MISMATCH


@pytest.mark.parametrize("items", ["polite", 4, [4], ["tone"], [{"rating": 4}], {"tone": []}, {" ": 4}])
def test_ratings_in_another_form_are_invalid(items):
    assert cause_of(Aspect.RUBRICS, rubrics=items) is Cause.INVALID_VERDICT
