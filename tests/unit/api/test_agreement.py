"""Agreement of two judges. Kappa by Cohen (1960): (p_o - p_e) / (1 - p_e), worked out by hand here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import make_trace
from ragsonde.api.agreement import AspectAgreement, compare_assessments, list_verdicts
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.errors import Cause

YES_NO = ("yes", "no")


def agree(*confusion: tuple[int, ...], labels: tuple[str, ...] = YES_NO) -> AspectAgreement:
    return AspectAgreement(aspect="relevant", labels=labels, confusion=confusion)


def say(*relevant: bool, levels: str = "hnn", **more) -> Assessment:
    words = {"h": "high", "m": "medium", "l": "low", "n": "none"}
    contexts = {
        str(place): {"relevant": flag, "level": words[level], "used": False}
        for place, (flag, level) in enumerate(zip(relevant, levels, strict=True), start=1)
    }
    return read_assessment({"contexts": contexts, **more}, make_trace())


def by_aspect(*pairs) -> dict[str, AspectAgreement]:
    return {one.aspect: one for one in compare_assessments(pairs)}


def test_kappa_is_the_agreement_beyond_chance():
    # 20 + 15 of 50 agree: p_o .7; people say yes to 25, the judge to 30: p_e .5 * .6 + .5 * .4 = .5
    found = agree((20, 5), (10, 15))
    assert (found.n, found.accuracy) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)


def test_the_same_accuracy_says_less_where_nearly_all_is_yes():
    # 90 of 100 agree; both say yes to 95: p_e .9025 + .0025 = .905, kappa (.9 - .905) / .095
    found = agree((90, 5), (5, 0))
    assert found.accuracy == 0.9
    assert found.kappa == pytest.approx(-0.005 / 0.095)


def test_kappa_of_four_levels():
    # 7 of 10 agree; rows 4 3 2 1, columns 3 4 2 1: p_e (12 + 12 + 4 + 1) / 100 = .29
    found = agree(
        (3, 1, 0, 0), (0, 2, 1, 0), (0, 1, 1, 0), (0, 0, 0, 1), labels=("high", "medium", "low", "none")
    )
    assert found.kappa == pytest.approx(0.41 / 0.71)


@pytest.mark.parametrize(
    ("confusion", "accuracy", "note"),
    [
        (((0, 0), (0, 0)), None, "nothing to compare"),
        (((7, 0), (0, 0)), 1.0, "both gave one verdict throughout: kappa is not defined"),
    ],
)
def test_where_kappa_is_not_defined_it_is_none_and_says_why(confusion, accuracy, note):
    found = agree(*confusion)
    assert (found.accuracy, found.kappa, found.note) == (accuracy, None, note)


def test_one_constant_side_gives_no_agreement_beyond_chance():
    assert agree((6, 0), (4, 0)).kappa == 0.0


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_kappa_is_at_most_one_and_one_only_for_full_agreement(cells):
    found = agree((cells[0], cells[1]), (cells[2], cells[3]))
    if found.kappa is not None:
        assert found.kappa <= 1
        assert (found.kappa == 1) == (found.accuracy == 1)


def test_contexts_sentences_and_traces_are_counted_each_as_what_it_is():
    trace = make_trace()  # three contexts with 2, 1 and 1 sentences
    people = say(True, False, False, essential=["1.1"], relevant_sentences=["1"])
    judge = say(True, True, False, levels="mln", essential=["1.1", "2.1"], relevant_sentences=["1.1"])
    found = by_aspect((trace, people, judge))
    assert found["relevant"].confusion == ((1, 0), (1, 1))
    assert found["level"].confusion == ((0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 1, 1))
    assert found["used"].confusion == ((0, 0), (0, 3))
    assert found["essential"].confusion == ((1, 0), (1, 2))
    assert found["relevant_sentences"].confusion == ((1, 1), (0, 2))
    assert found["insufficient"].confusion == ((0, 0), (0, 1))
    assert found["supports"].n == 0


def test_what_one_side_did_not_assess_is_not_compared():
    people = say(True, False, False)
    judge = say(True, True, False, essential=["1.1"])
    found = by_aspect((make_trace(), people, judge))
    assert (found["relevant"].n, found["essential"].n, found["insufficient"].n) == (3, 0, 0)


def test_sentences_that_the_judge_did_not_see_are_not_compared():
    judge = say(True, False, False, relevant_sentences=["1.1"], sentences_shown=["1.1", "2.1"])
    people = say(True, False, False, relevant_sentences=["1"])
    assert by_aspect((make_trace(), people, judge))["relevant_sentences"].n == 2


def test_blank_contexts_and_unusable_aspects_have_no_verdicts():
    trace = make_trace("One sentence.", "  ")
    whole = read_assessment({"contexts": {"1": {"relevant": True, "used": True}}}, trace)
    faulty = whole.model_copy(
        update={"faults": {Aspect.USED: Fault(cause=Cause.INVALID_VERDICT, message="found maybe")}}
    )
    assert set(list_verdicts(trace, faulty)) == {("relevant", "1")}
