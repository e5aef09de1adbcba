"""Claims, statements and ratings ride on the one call, each under a key of its own, held to their form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import ALL_ASPECTS, WIDER_ASPECTS, make_trace
from fakes.provider import FakeProvider, make_completion
from mock_llm.server import MockLlm
from ragsonde.judging.instructions import KEYS_OF, build_schema, choose_keys
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.options import JudgeOptions, Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde.judging.reply import normalise_reply
from ragsonde.scoring.outcomes import needed_aspects, score_all
from ragsonde.scoring.rubric import list_rubrics
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Certainty, ClaimVerdict
from ragsonde_schemas.errors import Cause

SCORERS = build_scorers(
    {
        "faithfulness": {},
        "answer_relevancy": {},
        "context_recall": {},
        "rubric:tone": {"question": "Is the answer polite?", "points": 5},
        "rubric:form": {"question": "Which form has it?", "labels": {"list": 0, "prose": 1}},
    }
)
RUBRICS = list_rubrics(SCORERS)
TRACE = make_trace("A battery.", "A shop.", reference="An alkaline battery.")
GOOD = {
    "cl": [{"x": "It needs a battery", "v": "yes", "in": ["1"]}, {"x": "It is red", "v": "no", "in": []}],
    "as": [{"x": "It needs a battery", "v": "yes"}, {"x": "It is red", "v": "unsure"}],
    "rs": [{"x": "It needs a battery", "v": "Yes."}, {"x": "It is alkaline", "v": "no"}],
    "rub": [{"k": "1", "v": "4"}, {"k": 2, "v": "Prose"}],
}
RAWS = {
    "faithfulness": 0.5,
    "answer_relevancy": 0.65,
    "context_recall": 0.5,
    "rubric:tone": 0.75,
    "rubric:form": 1.0,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["1", "2", "yes", "4"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["k", "x", "v", "in"]), inner, max_size=4)
    ),
    max_leaves=10,
)


def ask(*replies):
    """What a judge makes of these replies in turn, and what it asked."""
    provider = FakeProvider([make_completion(json.dumps(reply)) for reply in replies])
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m", reasons="none")
    judge = LitellmJudge(options, rubrics=RUBRICS, provider=provider)
    return judge.assess(TRACE, needed_aspects(SCORERS, TRACE)), provider.asked


def raws(assessment):
    return {
        outcome.scorer: outcome.raw if outcome.status == "scored" else outcome.cause
        for outcome in score_all(SCORERS, TRACE, assessment)
    }


def test_one_call_gives_all_their_scores():
    assessment, asked = ask(GOOD)
    assert assessment.faults == {}
    assert assessment.claims[0] == ClaimVerdict(
        text="It needs a battery", supported=Certainty.YES, contexts=("1",)
    )
    assert {name: verdict.digest for name, verdict in assessment.rubrics.items()} == {
        rubric.name: rubric.digest for rubric in RUBRICS
    }
    assert raws(assessment) == RAWS
    assert len(asked) == 1
    assert set(asked[0]["schema"]["properties"]) == {"cl", "as", "rs", "rub"}


ANOTHER_CLAIM = {"x": "A", "v": "yes", "in": []}
MISMATCH, INVALID = Cause.VERDICT_MISMATCH, Cause.INVALID_VERDICT


@pytest.mark.parametrize(
    ("key", "value", "cause", "said"),
    [
        ("cl", "none", INVALID, "cl: found 'none', expected a list"),
        ("cl", [{**ANOTHER_CLAIM, "v": "perhaps"}], INVALID, "yes, no or unsure"),
        ("cl", [{**ANOTHER_CLAIM, "in": ["3"]}], MISMATCH, "no context has the number 3"),
        ("as", [{"v": "yes"}], INVALID, "as: found nothing"),
        ("rs", [{"x": "A", "v": "unsure"}], INVALID, "yes or no"),
        ("rub", GOOD["rub"][:1], MISMATCH, "question 2 (form) is missing"),
        (
            "rub",
            [{"k": "1", "v": "6"}, {"k": "2", "v": "list"}],
            INVALID,
            "question 1 (tone): found '6', expected a whole number from 1 to 5",
        ),
        ("rub", [*GOOD["rub"], {"k": "3", "v": "1"}], MISMATCH, "no question has the number '3'"),
        ("rub", [*GOOD["rub"], {"k": "1", "v": "5"}], MISMATCH, "contradicting ratings"),
    ],
)
def test_a_bad_one_is_repaired_once_then_a_fault_of_its_own_aspect(key, value, cause, said):
    bad = {**GOOD, key: value}
    mended, asked = ask(bad, GOOD)
    assert mended.faults == {}
    assert raws(mended) == RAWS
    assert said in asked[1]["messages"][-1]["content"]

    assessment, asked = ask(bad, bad)
    (aspect,) = (aspect for aspect, keys in KEYS_OF.items() if key in keys)
    assert {faulty: fault.cause for faulty, fault in assessment.faults.items()} == {aspect: cause}
    assert len(asked) == 2


@pytest.mark.parametrize("key", GOOD)
def test_a_key_that_is_left_out_is_asked_for_again(key):
    bad = {name: value for name, value in GOOD.items() if name != key}
    mended, asked = ask(bad, GOOD)
    assert mended.faults == {}
    assert f"key {key} is missing" in asked[1]["messages"][-1]["content"]


def test_a_rating_that_stays_bad_leaves_the_other_rubric_its_number():
    bad = {**GOOD, "rub": [{"k": "1", "v": "6"}, {"k": "2", "v": "list"}]}
    assert raws(ask(bad, bad)[0]) == RAWS | {"rubric:tone": Cause.INVALID_VERDICT, "rubric:form": 0.0}


def test_their_keys_are_asked_only_where_somebody_needs_them():
    keys = choose_keys(ALL_ASPECTS, reasons=Reasons.NONE)
    assert not {"cl", "as", "rs", "rub"} & set(keys)
    assert set(build_schema(keys)["properties"]) == {"c", "rel", "need", "ins", "miss"}


@pytest.mark.parametrize(
    ("trace", "asked"),
    [
        (make_trace(), WIDER_ASPECTS - {Aspect.REFERENCE_STATEMENTS}),
        (make_trace(answer=None, reference="R."), {Aspect.REFERENCE_STATEMENTS, Aspect.RUBRICS}),
    ],
    ids=["no reference", "no answer"],
)
def test_what_a_trace_does_not_hold_is_not_asked_about(trace, asked):
    prompt = render_prompt(trace, WIDER_ASPECTS, reasons=Reasons.NONE, rubrics=RUBRICS)
    assert prompt.aspects == asked


def test_without_rubrics_there_is_nothing_to_rate():
    prompt = render_prompt(TRACE, frozenset({Aspect.RUBRICS}), reasons=Reasons.NONE)
    assert (prompt.aspects, prompt.keys) == (frozenset(), ())


def test_rubrics_are_no_part_of_who_judges():
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m")
    assert LitellmJudge(options, rubrics=RUBRICS).fingerprint == LitellmJudge(options).fingerprint


def test_a_model_that_keeps_to_the_form_answers_all_aspects_in_one_call():
    with MockLlm() as llm:
        options = JudgeOptions(
            name="gpt", kind="litellm", model="openai/mock", api_base=llm.url, api_key="k", reasons="context"
        )
        trace = make_trace(reference="It takes an alkaline battery.")
        assessment = LitellmJudge(options, rubrics=RUBRICS).assess(trace, frozenset(Aspect))
        assert llm.total == 1
    assert assessment.faults == {}
    assert assessment.claims == (
        ClaimVerdict(text="The torch needs an alkaline battery.", supported=Certainty.YES, contexts=("1",)),
    )
    assert assessment.reference_statements[0].attributed
    assert {name: verdict.rating for name, verdict in assessment.rubrics.items()} == {
        "tone": "5",
        "form": "list",
    }


@given(st.dictionaries(st.sampled_from(["cl", "as", "rs", "rub"]), JSON))
def test_any_object_is_read_without_an_exception_and_gives_no_score_beyond_0_to_1(found):
    raw = normalise_reply(found, keys=("cl", "as", "rs", "rub"), rubrics=RUBRICS)
    assessment = read_assessment(raw, TRACE)
    assessment.model_dump_json()
    for outcome in score_all(SCORERS, TRACE, assessment):
        assert outcome.status != "scored" or 0 <= outcome.raw <= 1
        assert outcome.status == "scored" or outcome.cause is not Cause.INTERNAL_ERROR, outcome
