"""Rubrics: questions of the user's own, from configuration to a number."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.outcomes import is_enough, score
from ragsonde.scoring.rubric import list_rubrics
from ragsonde.scoring.table import build_scorers, find_formula
from ragsonde_schemas.assessment import Aspect, Assessment, Fault, RubricVerdict
from ragsonde_schemas.errors import Cause, ConfigError
from unit.scoring import exact_scores
from unit.scoring.rag_traces import make_trace
from unit.scoring.recorded_scores import score_one

TRACE = make_trace(["one"])
TONE = {"question": "Is the answer polite?", "points": 5}
FORM = {"question": "How formal is it?", "labels": {"formal": 1, "so so": 0.5, "rude": 0}}


def build(config, name="rubric:tone"):
    (scorer,) = build_scorers({name: config})
    return scorer


def problems_of(config):
    with pytest.raises(ConfigError) as caught:
        build_scorers(config)
    return caught.value.problems


@given(points=st.integers(2, 100), data=st.data(), scale=st.sampled_from([1, 5, 10, 100]))
def test_a_rating_on_a_scale_is_the_exact_fraction(points, data, scale):
    rating = data.draw(st.integers(1, points))
    options = {**TONE, "points": points, "scale": scale}
    outcome = score_one("rubric:tone", TRACE, {"rubrics": {"tone": rating}}, **options)
    exact = Fraction(rating - 1, points - 1)
    assert outcome.raw == float(exact)
    assert outcome.value == exact_scores.round_half_up(exact * scale)


@pytest.mark.parametrize(
    ("written", "raw"), [("formal", 1), (" So so. ", 0.5), ("RUDE", 0), ({"rating": "rude"}, 0)]
)
def test_a_label_is_worth_what_the_configuration_says(written, raw):
    outcome = score_one("rubric:form", TRACE, {"rubrics": {"form": written}}, **FORM)
    assert (outcome.status, outcome.raw) == ("scored", raw)
    assert outcome.details["rubric"] == "form"


def test_labels_that_yaml_reads_as_booleans_are_yes_and_no():
    options = {"question": "Is it polite?", "labels": {True: 1, False: 0}}
    assert score_one("rubric:x", TRACE, {"rubrics": {"x": "no"}}, **options).raw == 0
    assert score_one("rubric:x", TRACE, {"rubrics": {"x": True}}, **options).raw == 1


@pytest.mark.parametrize(
    ("rating", "cause"),
    [
        ("0", Cause.INVALID_VERDICT),
        (6, Cause.INVALID_VERDICT),
        ("very", Cause.INVALID_VERDICT),
        ("4/5", Cause.INVALID_VERDICT),
        (4.5, Cause.INVALID_VERDICT),
        (None, Cause.INVALID_VERDICT),
        (float("nan"), Cause.NOT_FINITE),
    ],
)
def test_a_rating_that_is_not_on_the_scale_is_an_error(rating, cause):
    outcome = score_one("rubric:tone", TRACE, {"rubrics": {"tone": rating}}, **TONE)
    assert (outcome.status, outcome.cause) == ("error", cause)


def test_contradicting_ratings_are_a_mismatch_and_identical_ones_collapse():
    once = {"name": "tone", "rating": 4}
    same = score_one("rubric:tone", TRACE, {"rubrics": [once, {**once, "rating": "4."}]}, **TONE)
    other = score_one("rubric:tone", TRACE, {"rubrics": [once, {**once, "rating": 3}]}, **TONE)
    assert same.raw == 0.75
    assert other.cause is Cause.VERDICT_MISMATCH


def test_a_rubric_that_came_back_unusable_leaves_another_its_number():
    fault = Fault(cause=Cause.INVALID_VERDICT, message="tone: found 'very', expected 1 to 5")
    assessment = Assessment(rubrics={"form": RubricVerdict(rating="rude")}, faults={Aspect.RUBRICS: fault})
    assert score(build(FORM, "rubric:form"), TRACE, assessment).raw == 0
    lost = score(build(TONE), TRACE, assessment)
    assert (lost.cause, lost.reason) == (Cause.INVALID_VERDICT, fault.message)


def test_a_rating_of_another_question_is_not_taken_for_an_answer_to_this_one():
    scorer = build(TONE)
    (asked,) = list_rubrics([scorer])
    kept = Assessment(rubrics={"tone": RubricVerdict(rating="4", digest=asked.digest)})
    changed = [
        build({**TONE, "question": "Is the answer kind?"}),
        build({**TONE, "points": 4}),
        build({"question": TONE["question"], "labels": {"4": 1, "3": 0}}),
    ]
    assert is_enough(kept, TRACE, scorers=[scorer])
    for other in changed:
        assert not is_enough(kept, TRACE, scorers=[other])
        assert score(other, TRACE, kept).cause is Cause.NOT_ASSESSED


def test_labels_may_be_worth_something_else_without_a_new_question():
    first, second = build(FORM), build({**FORM, "labels": {"formal": 1, "so so": 0.8, "rude": 0}})
    assert list_rubrics([first]) == list_rubrics([second])
    assert first.version_for(TRACE) != second.version_for(TRACE)


@pytest.mark.parametrize("change", [{"question": "Is it kind?"}, {"points": 4}], ids=str)
def test_its_definition_is_part_of_its_version(change):
    version, other = build(TONE).version_for(TRACE), build({**TONE, **change}).version_for(TRACE)
    assert re.fullmatch(r"1\+[0-9a-f]{6}", version)
    assert version != other
    assert build({**TONE, "scale": 10}).version_for(TRACE) == version


def test_several_instances_share_a_rubric_and_it_is_asked_once():
    strict = {"scorer": "rubric:tone", "threshold": 0.9, **TONE}
    scorers = build_scorers({"rubric:tone": TONE, "strict": strict, "signal_share": {}})
    (rubric,) = list_rubrics(scorers)
    assert (rubric.name, rubric.ratings, rubric.is_scale) == ("tone", ("1", "2", "3", "4", "5"), True)


def test_one_name_for_two_questions_is_refused():
    (problem,) = problems_of({"rubric:tone": TONE, "other": {"scorer": "rubric:tone", **FORM}})
    assert problem.startswith("scorers.other: rubric:tone has another question")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("rubric", TONE, "scorers.rubric: found 'rubric', expected rubric: and a name"),
        ("rubric:", TONE, "scorers.rubric:: found 'rubric:', expected rubric: and a name"),
        ("rubric:x", {"points": 5}, "`question` is missing"),
        ("rubric:x", {"question": "Is it?"}, "found neither `points` nor `labels`"),
        ("rubric:x", {**TONE, **FORM}, "found both `points` and `labels`"),
        ("rubric:x", {**TONE, "question": " "}, "scorers.rubric:x.question: found ' ', expected a question"),
        ("rubric:x", {**TONE, "question": 7}, "found the number 7, expected a question"),
        ("rubric:x", {**TONE, "points": 1}, "found the number 1, expected a whole number from 2 to 100"),
        ("rubric:x", {**TONE, "points": 2.5}, "found the number 2.5, expected a whole number"),
        ("rubric:x", {**TONE, "points": True}, "found true, expected a whole number"),
        ("rubric:x", {**TONE, "pionts": 1}, "did you mean points?"),
        ("rubric:x", {**FORM, "labels": {"one": 1}}, "expected two or more labels"),
        ("rubric:x", {**FORM, "labels": {"one": 2, "two": 0}}, "rubric:x.labels.one: found the number 2"),
        ("rubric:x", {**FORM, "labels": {"one": 1, "One.": 0}}, "'One.' is there twice"),
        ("rubrik:x", TONE, "'rubrik:x' is no scorer"),
    ],
)
def test_a_rubric_that_asks_nothing_is_refused_with_what_is_wrong(name, options, said):
    assert said in "\n".join(problems_of({name: options}))


def test_any_name_behind_the_prefix_finds_the_formula():
    assert find_formula("rubric:anything").id == "rubric"
    assert find_formula("rubrics:x") is None
