"""The LLM judge where contexts do not fit into one call, over real HTTP."""

from __future__ import annotations

import json

import pytest

from fakes.judged_traces import ALL_ASPECTS, make_trace
from fakes.provider import FakeProvider, make_completion
from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm
from mock_llm.verdicts import read_prompt
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.options import JudgeOptions
from ragsonde.scoring.assessed import list_shown
from ragsonde.scoring.outcomes import needed_aspects, score_all
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import Cause, JudgeUnavailableError

ASPECTS = ALL_ASPECTS - {Aspect.SUPPORTS}
BATTERY = " ".join(f"The torch needs battery number {n} of the list." for n in range(8))
SHOP = " ".join(f"Our shop number {n} closes early on Sundays." for n in range(8))
"""About 80 tokens each, with the numbers of their 8 sentences 110."""


@pytest.fixture
def llm():
    with MockLlm() as served:
        yield served


def judge_at(llm, **options):
    given = {"model": "openai/mock", "api_base": llm.url, "api_key": "sk-x", "max_context_tokens": 240}
    return LitellmJudge(JudgeOptions(name="gpt", kind="litellm", **{**given, **options}))


def shown_by(call):
    return sorted(read_prompt(call.messages).contexts)


def test_contexts_of_two_calls_are_one_assessment(llm):
    trace = make_trace(SHOP, BATTERY, " ", BATTERY)
    assessment = judge_at(llm).assess(trace, ASPECTS)
    assert [shown_by(call) for call in llm.calls] == [["1"], ["2", "4"]]
    assert assessment.faults == {}
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [False, True, False, True]
    assert list(assessment.contexts) == ["1", "2", "3", "4"]
    assert assessment.relevant_sentences == (
        *(f"2.{n}" for n in range(1, 9)),
        *(f"4.{n}" for n in range(1, 9)),
    )
    assert (assessment.essential, assessment.insufficient) == (("2.1",), False)
    assert assessment.notes == {"parts": 2}
    assert (assessment.truncated, assessment.sentences_shown) == (False, None)
    assert [call.purpose for call in assessment.calls] == ["assess", "assess"]


def test_the_same_instructions_open_every_call(llm):
    judge_at(llm).assess(make_trace(SHOP, BATTERY, BATTERY), ASPECTS)
    first, second = llm.calls
    assert first.messages[0] == second.messages[0]
    assert read_prompt(first.messages).question == read_prompt(second.messages).question


def test_what_was_cut_is_recorded_and_leaves_the_denominators(llm):
    trace = make_trace(BATTERY + " " + BATTERY)
    assessment = judge_at(llm, max_context_tokens=110).assess(trace, ASPECTS)
    assert assessment.truncated is True
    count = len(assessment.sentences_shown)
    assert 6 <= count <= 9
    assert assessment.sentences_shown == tuple(f"1.{n}" for n in range(1, count + 1))
    assert len(list_shown(trace, assessment)) == count < len(trace.sentences)
    scorers = build_scorers({"statement_relevancy": {}})
    (outcome,) = score_all(scorers, trace, assessment)
    assert outcome.raw == 1
    assert outcome.details["sentences_shown"] == count
    assert outcome.details["sentences_total"] == 16


def test_a_number_of_the_other_call_does_not_exist(llm):
    first = json.dumps({"c": [{"k": "1", "y": 1}], "why": "x"})
    again = json.dumps({"c": [{"k": number, "y": 1} for number in "123"], "why": "x"})
    llm.run_script([Outcome("text", text=first), Outcome("text", text=again), "ok"])
    assessment = judge_at(llm).assess(make_trace(SHOP, BATTERY, BATTERY), frozenset({Aspect.RELEVANT}))
    assert [call.purpose for call in assessment.calls] == ["assess", "assess", "repair"]
    assert assessment.calls[1].outcome == Cause.VERDICT_MISMATCH
    assert assessment.contexts["3"].relevant is True


def test_a_fault_in_one_call_is_the_faults_of_the_whole_trace(llm):
    llm.run_script(["ok", "garbage", "garbage"])
    assessment = judge_at(llm).assess(make_trace(SHOP, BATTERY, BATTERY), ASPECTS)
    assert {aspect: fault.cause for aspect, fault in assessment.faults.items()} == dict.fromkeys(
        ASPECTS, Cause.INVALID_REPLY
    )
    assert assessment.contexts is None
    assert assessment.relevant_sentences is None


def test_null_in_one_call_is_the_fault_of_the_whole_trace_and_hides_nothing():
    provider = FakeProvider(
        [
            make_completion('{"miss": ["a charger"], "rel": []}'),
            *[make_completion('{"miss": null, "rel": []}')] * 2,
        ]
    )
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m", max_context_tokens=240)
    aspects = frozenset({Aspect.MISSING, Aspect.RELEVANT_SENTENCES})
    assessment = LitellmJudge(options, provider=provider).assess(make_trace(BATTERY, SHOP, SHOP), aspects)
    assert [call.purpose for call in assessment.calls] == ["assess", "assess", "repair"]
    assert assessment.faults.keys() == {Aspect.MISSING}
    assert assessment.missing is None


def test_after_a_call_without_any_verdict_no_other_is_made(llm):
    llm.run_script("400")
    assessment = judge_at(llm).assess(make_trace(SHOP, BATTERY, BATTERY), ASPECTS)
    assert set(assessment.faults) == ASPECTS
    assert llm.total == 1


def test_an_outage_in_the_second_call_tells_the_first_too(llm):
    llm.run_script(["ok", "503"])
    with pytest.raises(JudgeUnavailableError) as raised:
        judge_at(llm).assess(make_trace(SHOP, BATTERY, BATTERY), ASPECTS)
    assert [call.outcome for call in raised.value.calls] == ["ok", Cause.JUDGE_UNAVAILABLE]


@pytest.mark.parametrize("outcome", ["context_window", "413"])
def test_a_prompt_that_is_too_long_is_asked_once_more_with_half_the_contexts(llm, outcome):
    llm.run_script([outcome, "ok"])
    trace = make_trace(BATTERY, SHOP)
    assessment = judge_at(llm, max_context_tokens=6000).assess(trace, ASPECTS)
    assert [call.purpose for call in assessment.calls] == ["assess", "trim"]
    assert [call.outcome for call in assessment.calls] == [Cause.CONTEXT_WINDOW_EXCEEDED, "ok"]
    assert assessment.faults == {}
    assert assessment.truncated is True
    assert 6 <= len(assessment.sentences_shown) <= 9
    assert {number[0] for number in assessment.sentences_shown} == {"1", "2"}


@pytest.mark.parametrize("outcome", ["context_window", "413"])
def test_too_long_twice_is_an_error(llm, outcome):
    llm.run_script(outcome)
    assessment = judge_at(llm).assess(make_trace(BATTERY, SHOP), ASPECTS)
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.CONTEXT_WINDOW_EXCEEDED}
    assert set(assessment.faults) == ASPECTS
    assert llm.total == 2


def test_after_half_the_contexts_no_longer_reply_is_asked_for(llm):
    llm.run_script(["context_window", "length"])
    assessment = judge_at(llm).assess(make_trace(BATTERY, SHOP), ASPECTS)
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.REPLY_TRUNCATED}
    assert llm.total == 2


def test_an_outage_after_a_prompt_that_was_too_long_tells_both_calls(llm):
    llm.run_script(["context_window", "503"])
    with pytest.raises(JudgeUnavailableError) as raised:
        judge_at(llm).assess(make_trace(BATTERY, SHOP), ASPECTS)
    assert [call.purpose for call in raised.value.calls] == ["assess", "trim"]


def test_contexts_that_have_no_half_are_not_asked_again(llm):
    llm.run_script("context_window")
    assessment = judge_at(llm).assess(make_trace("One battery."), ASPECTS)
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.CONTEXT_WINDOW_EXCEEDED}
    assert llm.total == 1


def test_a_longer_reply_than_the_window_holds_is_a_reply_cut_off(llm):
    llm.run_script(["length", "context_window"])
    assessment = judge_at(llm).assess(make_trace(BATTERY), ASPECTS)
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.REPLY_TRUNCATED}
    assert llm.total == 2


def test_an_answer_that_is_too_long_is_cut_in_the_middle_and_said_so(llm):
    answer = "It needs an alkaline battery. " * 200 + "Never throw it away."
    assessment = judge_at(llm).assess(make_trace(BATTERY, answer=answer), ASPECTS)
    shown = read_prompt(llm.calls[0].messages).answer
    assert shown.startswith("It needs an alkaline battery.")
    assert " [...] " in shown
    assert shown.strip().endswith("Never throw it away.")
    assert len(shown) < 500
    assert assessment.notes == {"shortened": ["answer"]}
    assert assessment.truncated is True


def test_scores_of_an_answer_that_was_cut_say_so(llm):
    answer = "It needs an alkaline battery. " * 200
    trace = make_trace(BATTERY, answer=answer)
    scorers = build_scorers({"context_position": {}, "faithfulness": {}})
    assessment = judge_at(llm).assess(trace, needed_aspects(scorers, trace))
    for outcome in score_all(scorers, trace, assessment):
        assert outcome.status == "scored"
        assert (outcome.details["truncated"], outcome.details["shortened"]) == (True, ["answer"])
    whole = make_trace(BATTERY)
    for outcome in score_all(scorers, whole, judge_at(llm).assess(whole, needed_aspects(scorers, whole))):
        assert "shortened" not in outcome.details


def test_at_most_three_calls_a_part_whatever_comes_back():
    provider = FakeProvider([make_completion("x", finish_reason="length"), make_completion("no JSON")] * 20)
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m", max_context_tokens=240)
    judge = LitellmJudge(options, provider=provider)
    trace = make_trace(SHOP, BATTERY, BATTERY)
    judge.assess(trace, ASPECTS)
    assert len(provider.asked) <= judge.estimate(trace, ASPECTS).calls == 6
