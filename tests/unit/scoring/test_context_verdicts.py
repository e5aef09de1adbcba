from __future__ import annotations

import math

import pytest

from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, ContextVerdict, Fault, Level
from ragsonde_schemas.errors import Cause
from unit.scoring.rag_traces import make_texts, make_trace

TRACE = make_trace(make_texts(4))
ALL_YES = {str(n): {"relevant": "yes"} for n in range(1, 5)}


def read(contexts, trace=TRACE, **options):
    return read_assessment({"contexts": contexts}, trace, **options)


def fault_of(contexts, aspect=Aspect.RELEVANT, trace=TRACE):
    assessment = read(contexts, trace)
    return assessment.faults[aspect]


def relevant_of(assessment):
    return [verdict.relevant for verdict in assessment.contexts.values()]


def test_an_object_by_number_and_a_list_with_numbers_read_alike():
    entries = {
        "1": {"relevant": True},
        "2": {"relevant": "no"},
        "3": {"relevant": "No."},
        "4": {"relevant": "YES"},
    }
    listed = [{"number": number, **entry} for number, entry in reversed(entries.items())]
    assert read(entries) == read(listed)
    assert relevant_of(read(listed)) == [True, False, False, True]


def test_whole_numbers_name_contexts_too():
    assert read({n: {"relevant": "yes"} for n in range(1, 5)}) == read(ALL_YES)
    assert read([{"number": n, "relevant": "yes"} for n in range(1, 5)]) == read(ALL_YES)


def test_every_aspect_of_a_context_and_its_reason_are_read():
    entry = {"relevant": "yes", "supports": False, "level": "High", "used": "no", "why": " because "}
    assessment = read({"1": entry}, make_trace(["one"]))
    assert assessment.contexts == {
        "1": ContextVerdict(relevant=True, supports=False, level=Level.HIGH, used=False, reason="because")
    }
    assert assessment.faults == {}


def test_a_missing_number_is_named():
    three = {number: entry for number, entry in ALL_YES.items() if number != "3"}
    assert fault_of(three) == Fault(
        cause=Cause.VERDICT_MISMATCH, message="3 verdicts for 4 contexts: missing number 3"
    )


def test_an_unknown_number_is_named():
    assert fault_of(ALL_YES | {"7": {"relevant": True}}) == Fault(
        cause=Cause.VERDICT_MISMATCH, message="5 verdicts for 4 contexts: unknown number 7"
    )


@pytest.mark.parametrize(
    "number",
    ["0", "01", "1.0", "one", "", 0, -1, 1.0, True, None, pytest.param(10**5000, id="huge"), [1]],
)
def test_no_index_is_guessed(number):
    listed = [{"number": number, "relevant": True}, *({"number": n, "relevant": True} for n in "234")]
    assert fault_of(listed).cause is Cause.VERDICT_MISMATCH


@pytest.mark.parametrize("contexts", [{}, []])
def test_no_verdicts_at_all_are_a_mismatch_in_every_aspect_asked(contexts):
    assessment = read(contexts, aspects=frozenset({Aspect.LEVEL, Aspect.USED, Aspect.MISSING}))
    assert set(assessment.faults) == {Aspect.LEVEL, Aspect.USED}
    assert (
        assessment.faults[Aspect.USED].message == "0 verdicts for 4 contexts: missing numbers 1, 2, 3 and 4"
    )


def test_an_aspect_on_some_contexts_only_is_a_mismatch_of_that_aspect_alone():
    contexts = {"1": {"relevant": "yes", "level": "low"}, "2": {"relevant": "no"}}
    assessment = read(contexts, make_trace(make_texts(2)))
    assert set(assessment.faults) == {Aspect.LEVEL}
    assert assessment.faults[Aspect.LEVEL].message == "1 verdict for 2 contexts: missing number 2"
    assert relevant_of(assessment) == [True, False]
    assert [verdict.level for verdict in assessment.contexts.values()] == [None, None]


def test_an_aspect_on_no_context_is_not_assessed_and_no_fault():
    assessment = read(ALL_YES)
    assert assessment.faults == {}
    assert all(verdict.level is None for verdict in assessment.contexts.values())


def test_null_is_as_good_as_absent():
    assert read({n: entry | {"level": None} for n, entry in ALL_YES.items()}) == read(ALL_YES)
    assert read(None).contexts is None
    assert read(None).faults == {}


def test_identical_repeats_collapse():
    listed = [{"number": n, "relevant": True} for n in "12341"]
    assert read(listed) == read(ALL_YES)


def test_contradicting_repeats_are_a_mismatch_of_that_aspect():
    listed = [{"number": n, "relevant": "yes", "used": "no"} for n in "1234"]
    assessment = read([*listed, {"number": "2", "relevant": "no", "used": False}])
    assert set(assessment.faults) == {Aspect.RELEVANT}
    assert assessment.faults[Aspect.RELEVANT] == Fault(
        cause=Cause.VERDICT_MISMATCH, message="context 2: found contradicting verdicts"
    )


def test_an_unknown_word_is_named_with_what_was_expected():
    assert fault_of(ALL_YES | {"2": {"relevant": "partially"}}) == Fault(
        cause=Cause.INVALID_VERDICT, message="context 2: found 'partially', expected yes or no"
    )
    levels = {str(n): {"level": "very high"} for n in range(1, 5)}
    assert fault_of(levels, Aspect.LEVEL).message.startswith(
        "context 1: found 'very high', expected high, medium, low or none"
    )


def test_all_that_is_wrong_is_named_at_once_for_the_repair():
    contexts = {"1": {"relevant": "perhaps"}, "2": {"relevant": True}, "9": {"relevant": True}}
    message = fault_of(contexts).message
    assert message == (
        "context 1: found 'perhaps', expected yes or no; "
        "3 verdicts for 4 contexts: missing numbers 3 and 4; unknown number 9"
    )


def test_blank_contexts_need_no_verdict_and_one_given_is_ignored():
    trace = make_trace(["one", "  ", "three", ""], reference="right")
    entry = {"relevant": True, "supports": True, "level": "high", "used": True}
    blank = ContextVerdict(relevant=False, supports=False, level=Level.NONE, used=False)
    for given in (
        {"1": entry, "3": entry},
        {"1": entry, "2": entry | {"level": "odd"}, "3": entry, "4": "x"},
    ):
        assessment = read(given, trace)
        assert assessment.faults == {}
        assert assessment.contexts["2"] == assessment.contexts["4"] == blank
        assert assessment.contexts["1"] == assessment.contexts["3"] == ContextVerdict(**entry)


@pytest.mark.parametrize("contexts", ["yes", 3, True, {"1": "yes"}, {"1": ["yes"]}])
def test_another_shape_is_an_invalid_verdict(contexts):
    fault = fault_of(contexts)
    assert fault.cause is Cause.INVALID_VERDICT
    assert "expected an object" in fault.message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_non_finite_numbers_are_a_fault_wherever_they_stand(number):
    assert fault_of(ALL_YES | {"1": {"relevant": True, "confidence": number}}).cause is Cause.NOT_FINITE


def test_a_number_nobody_knows_is_never_passed_over():
    assert fault_of({"7": {"reason": "seven"}}).cause is Cause.VERDICT_MISMATCH


def test_hostile_words_and_numbers_are_mended_and_shortened_in_messages():
    message = fault_of(ALL_YES | {"1": {"relevant": "\x00\ud800" + "x" * 500}}).message
    assert len(message) < 120
    message.encode()
    message = fault_of(ALL_YES | {"\x00\ud800" + "9" * 500: {"relevant": True}}).message
    assert len(message) < 120
    message.encode()
