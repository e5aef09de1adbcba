"""The scorers that are off by default: what they need, when they skip, what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.outcomes import conclude, find_skip, needed_aspects, score_all
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from unit.scoring import exact_scores
from unit.scoring.rag_traces import make_texts, make_trace
from unit.scoring.recorded_scores import score_one

TONE = {"question": "Is the answer polite?", "points": 5}
CONFIG = {
    "faithfulness": {},
    "answer_relevancy": {},
    "context_recall": {},
    "context_utilization": {},
    "signal_share": {},
    "rubric:tone": TONE,
}
TRACE = make_trace(make_texts(3), reference="The reference.")
NOTHING_TO_SCORE = {
    "faithfulness": ({"claims": []}, Cause.NO_CLAIMS),
    "answer_relevancy": ({"answer_statements": []}, Cause.NO_CLAIMS),
    "context_recall": ({"reference_statements": []}, Cause.NO_CLAIMS),
    "context_utilization": (
        {"contexts": {n: {"relevant": False, "used": True} for n in "123"}},
        Cause.NO_RELEVANT_CONTEXT,
    ),
}
WEIGHTS = {"yes": "1", "unsure": "0.3", "no": "0"}
WORDS = st.lists(st.sampled_from(list(WEIGHTS)), min_size=1, max_size=12)
FLAGS = st.lists(st.booleans(), min_size=1, max_size=12)
LEVELS = st.lists(st.sampled_from(["high", "medium", "low", "none"]), min_size=1, max_size=12)
SCALES = st.sampled_from([1, 2, 5, 10, 100])


def list_texts(key, verdicts):
    return [{"text": f"Text {n}.", key: verdict} for n, verdict in enumerate(verdicts)]


def assert_exact(outcome, exact, scale=1):
    assert outcome.status == "scored", outcome
    assert 0 <= outcome.raw <= 1
    assert outcome.raw == pytest.approx(float(exact), abs=1e-14)
    assert (outcome.raw == 1) == (exact == 1)
    assert outcome.value == exact_scores.round_half_up(exact * scale)


def test_none_is_on_unless_it_is_configured():
    assert not {scorer.instance for scorer in build_scorers(None)} & CONFIG.keys()
    assert [scorer.instance for scorer in build_scorers(CONFIG)] == list(CONFIG)


def test_the_judge_is_asked_once_for_the_union():
    assert needed_aspects(build_scorers(CONFIG), TRACE) == {
        Aspect.CLAIMS,
        Aspect.ANSWER_STATEMENTS,
        Aspect.REFERENCE_STATEMENTS,
        Aspect.RELEVANT,
        Aspect.USED,
        Aspect.LEVEL,
        Aspect.RUBRICS,
    }


@pytest.mark.parametrize("name", CONFIG)
@pytest.mark.parametrize(
    ("trace", "cause"),
    [
        (make_trace(None), Cause.NO_CONTEXT),
        (make_trace([" "]), Cause.EMPTY_RETRIEVAL),
        (make_trace(["one"], query=" "), Cause.NO_QUERY),
    ],
    ids=["unknown contexts", "blank contexts", "no question"],
)
def test_without_contexts_or_question_it_is_skipped_before_any_call(name, trace, cause):
    (scorer,) = build_scorers({name: CONFIG[name]})
    assert find_skip(scorer, trace).cause is cause
    assert needed_aspects((scorer,), trace) == frozenset()


def test_what_a_scorer_speaks_of_must_be_there():
    skips = {
        scorer.instance: skip.cause
        for scorer in build_scorers(CONFIG)
        if (skip := find_skip(scorer, make_trace(["one"], answer=" ")))
    }
    assert skips == {
        "faithfulness": Cause.NO_ANSWER,
        "answer_relevancy": Cause.NO_ANSWER,
        "context_recall": Cause.NO_REFERENCE,
        "context_utilization": Cause.NO_ANSWER,
        "rubric:tone": Cause.NO_ANSWER,
    }


def test_a_reference_without_an_answer_is_enough_for_recall():
    (scorer,) = build_scorers({"context_recall": {}})
    assert find_skip(scorer, make_trace(["one"], answer=None, reference="right")) is None
    assert find_skip(scorer, make_trace(["one"], reference=" ")).reason == "the trace has no reference answer"


@pytest.mark.parametrize("name", CONFIG)
def test_what_was_not_assessed_is_an_error(name):
    outcome = score_one(name, TRACE, {}, **CONFIG[name])
    assert (outcome.status, outcome.cause) == ("error", Cause.NOT_ASSESSED)


@pytest.mark.parametrize("name", NOTHING_TO_SCORE)
def test_where_the_verdicts_show_nothing_to_score_it_is_skipped_and_never_a_number(name):
    recorded, cause = NOTHING_TO_SCORE[name]
    outcome = score_one(name, TRACE, recorded)
    assert (outcome.status, outcome.cause) == ("skipped", cause)
    assert outcome.details == {"n_contexts": 3}
    assert outcome.reason.startswith(("the answer makes no", "the reference answer makes no", "no context"))
    assert conclude([outcome]) == (EvaluationState.NOT_EVALUABLE, cause)


@given(words=WORDS, scale=SCALES)
def test_faithfulness_is_the_exact_share_of_yes_and_hallucination_its_mirror(words, scale):
    outcome = score_one("faithfulness", TRACE, {"claims": list_texts("supported", words)}, scale=scale)
    exact = exact_scores.share([word == "yes" for word in words])
    assert_exact(outcome, exact, scale)
    assert outcome.details["hallucination"] == pytest.approx(float(1 - exact), abs=1e-14)


@given(words=WORDS, scale=SCALES)
def test_answer_relevancy_is_the_exact_weighted_share(words, scale):
    recorded = {"answer_statements": list_texts("relevant", words)}
    outcome = score_one("answer_relevancy", TRACE, recorded, scale=scale)
    assert_exact(outcome, exact_scores.weighted_share([WEIGHTS[word] for word in words]), scale)


@given(flags=FLAGS, scale=SCALES)
def test_recall_is_the_exact_share_of_what_is_attributed(flags, scale):
    recorded = {"reference_statements": list_texts("attributed", flags)}
    assert_exact(score_one("context_recall", TRACE, recorded, scale=scale), exact_scores.share(flags), scale)


@given(pairs=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12), scale=SCALES)
def test_utilization_is_the_exact_share_of_the_relevant_that_are_used(pairs, scale):
    trace = make_trace(make_texts(len(pairs)))
    recorded = {
        "contexts": {
            str(n): {"relevant": relevant, "used": used} for n, (relevant, used) in enumerate(pairs, start=1)
        }
    }
    outcome = score_one("context_utilization", trace, recorded, scale=scale)
    used = [is_used for is_relevant, is_used in pairs if is_relevant]
    if used:
        assert_exact(outcome, exact_scores.share(used), scale)
    else:
        assert outcome.cause is Cause.NO_RELEVANT_CONTEXT


@given(levels=LEVELS, n_blank=st.integers(0, 3), scale=SCALES)
def test_signal_share_is_the_exact_share_of_contexts_above_none(levels, n_blank, scale):
    trace = make_trace([*make_texts(len(levels)), *[" "] * n_blank])
    recorded = {"contexts": {str(n): {"level": level} for n, level in enumerate(levels, start=1)}}
    exact = exact_scores.share([*(level != "none" for level in levels), *[False] * n_blank])
    assert_exact(score_one("signal_share", trace, recorded, scale=scale), exact, scale)


@pytest.mark.parametrize(
    ("name", "recorded", "reason"),
    [
        (
            "faithfulness",
            {"claims": list_texts("supported", ["yes", "no", "unsure"])},
            (
                "0.33: 1 of 3 claims of the answer is supported by the contexts; "
                'not supported: "Text 1."; unsure: "Text 2."'
            ),
        ),
        (
            "answer_relevancy",
            {"answer_statements": list_texts("relevant", ["yes", "yes", "unsure"])},
            '0.77: 2 of 3 statements of the answer are relevant to the question; unsure, 0.3 each: "Text 2."',
        ),
        (
            "context_recall",
            {"reference_statements": list_texts("attributed", ["yes", "no"])},
            '0.50: 1 of 2 statements of the reference can be drawn from the contexts; lacking: "Text 1."',
        ),
        (
            "context_utilization",
            {"contexts": {n: {"relevant": n != "2", "used": n == "3"} for n in "123"}},
            "0.50: 1 of 2 relevant contexts is used in the answer; unused: 1",
        ),
        (
            "signal_share",
            {"contexts": {n: {"level": "none" if n == "2" else "low"} for n in "123"}},
            "0.67: context 2 of 3 is of no help to answer the question",
        ),
        (
            "rubric:tone",
            {"rubrics": {"tone": 4}},
            '0.75: rated 4 of 5 on "Is the answer polite?"',
        ),
    ],
)
def test_the_reason_says_what_counted(name, recorded, reason):
    assert score_one(name, TRACE, recorded, **CONFIG[name]).reason == reason


def test_one_that_cannot_be_scored_leaves_the_others_alone():
    recorded = {
        "claims": list_texts("supported", ["yes"]),
        "answer_statements": list_texts("relevant", ["perhaps"]),
        "reference_statements": [],
        "contexts": {n: {"relevant": True, "used": True, "level": "high"} for n in "123"},
    }
    outcomes = score_all(build_scorers(CONFIG), TRACE, read_assessment(recorded, TRACE))
    assert [outcome.status for outcome in outcomes] == [
        *("scored", "error", "skipped", "scored", "scored", "error")
    ]
    assert conclude(outcomes) == (EvaluationState.SCORED, None)


def test_an_empty_assessment_gives_no_number():
    outcomes = score_all(build_scorers(CONFIG), TRACE, Assessment())
    assert {outcome.status for outcome in outcomes} == {"error"}
