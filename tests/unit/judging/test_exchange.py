from __future__ import annotations

import json
import time

import pytest

from builders.private_texts import EMAIL
from fakes.judged_traces import make_trace
from fakes.provider import FakeProvider, make_completion
from ragsonde.judging.completion import CallFaultError, NotAskedError
from ragsonde.judging.cover import choose_cover, cover_nothing
from ragsonde.judging.exchange import Exchange, choose_timeout
from ragsonde.judging.options import JudgeOptions
from ragsonde.judging.prompt import render_prompt
from ragsonde.redaction.options import RedactionOptions
from ragsonde.redaction.redactor import PatternRedaction
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.judge_call import UNANSWERED

ASPECTS = frozenset({Aspect.RELEVANT, Aspect.ESSENTIAL})
GOOD = {"c": [{"k": "1", "y": 1}, {"k": "2", "y": 0}], "need": ["1.1"], "ins": False, "why": "so"}
NAME = EMAIL[:6]
TRACE = make_trace("A battery.", "A shop.")


def run(*script, seconds=60.0, max_tokens=100, cover=cover_nothing):
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m", max_tokens=max_tokens)
    provider = FakeProvider(list(script))
    exchange = Exchange(
        options=options,
        provider=provider,
        prompt=render_prompt(TRACE, ASPECTS, reasons=options.reasons),
        trace=TRACE,
        deadline=time.monotonic() + seconds,
        cover=cover,
    )
    return exchange, provider


def reply(**changes):
    return make_completion(json.dumps({**GOOD, **changes}))


def cut_at(longest):
    """Words in which a cut at so many characters goes through an address."""
    return "x" * (longest - 1 - len(EMAIL) // 2) + " " + EMAIL + " and more"


def purposes(assessment):
    return [(call.purpose, call.outcome) for call in assessment.calls]


def test_a_good_reply_is_one_call():
    exchange, provider = run(reply())
    assessment = exchange.run()
    assert assessment.faults == {}
    assert assessment.contexts["1"].relevant is True
    assert assessment.contexts["2"].relevant is False
    assert assessment.essential == ("1.1",)
    assert (assessment.reason, assessment.answered_model) == ("so", "fake-1")
    assert purposes(assessment) == [("assess", "ok")]
    assert len(provider.asked) == 1


def test_the_repair_shows_the_bad_reply_and_names_its_fault_and_nothing_else():
    exchange, provider = run(reply(need=["7.7"]), reply())
    assessment = exchange.run()
    first, second = (asked["messages"] for asked in provider.asked)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": json.dumps({**GOOD, "need": ["7.7"]})}
    assert second[3]["role"] == "user"
    assert second[3]["content"] == (
        "Your reply cannot be used: need, ins: no sentence or context has the number 7.7. "
        "Reply again with the whole JSON object in the form described and nothing else."
    )
    assert assessment.faults == {}
    assert purposes(assessment) == [("assess", "verdict_mismatch"), ("repair", "ok")]


@pytest.mark.parametrize(
    ("changes", "aspect", "told"),
    [
        ({"need": None}, Aspect.ESSENTIAL, "key need is missing or null"),
        ({"ins": None}, Aspect.ESSENTIAL, "key ins is missing or null"),
        (
            {"c": [{"k": "1", "y": None}, {"k": "2", "y": None}]},
            Aspect.RELEVANT,
            "key y is missing or null",
        ),
        ({"ins": True}, Aspect.ESSENTIAL, "need, ins: ins is true, so that the contexts do not suffice"),
    ],
)
def test_null_and_what_contradicts_itself_are_no_verdicts(changes, aspect, told):
    exchange, provider = run(reply(**changes), reply())
    assert exchange.run().faults == {}
    assert told in provider.asked[1]["messages"][-1]["content"]
    exchange, _ = run(reply(**changes), reply(**changes))
    assert exchange.run().faults.keys() == {aspect}


def test_an_empty_reply_is_not_shown_again():
    exchange, provider = run(make_completion(" "), reply())
    assert exchange.run().faults == {}
    assert [message["role"] for message in provider.asked[1]["messages"]] == ["system", "user", "user"]
    assert "the reply is empty" in provider.asked[1]["messages"][2]["content"]


@pytest.mark.parametrize(
    ("odd", "cause", "told"),
    [
        (make_completion("", has_reasoning=True), Cause.EMPTY_REPLY, "reasoning and no words"),
        (make_completion(" ", has_tool_call=True), Cause.INVALID_REPLY, "calls a tool"),
        (make_completion(json.dumps(GOOD), choices=2), Cause.INVALID_REPLY, "2 different replies"),
        (make_completion(json.dumps(GOOD)[:-9]), Cause.INVALID_REPLY, "not the JSON object"),
    ],
)
def test_what_is_no_reply_is_said_and_asked_again(odd, cause, told):
    exchange, provider = run(odd, reply())
    assessment = exchange.run()
    assert told in provider.asked[1]["messages"][-1]["content"]
    assert purposes(assessment) == [("assess", cause), ("repair", "ok")]


def test_words_beside_reasoning_and_a_tool_call_are_a_reply():
    exchange, _ = run(make_completion(json.dumps(GOOD), has_reasoning=True, has_tool_call=True))
    assert exchange.run().faults == {}


def test_after_the_repair_faults_stay_for_the_aspects_concerned_only():
    exchange, provider = run(reply(need=["7.7"]), reply(need=["8.8"]))
    assessment = exchange.run()
    assert set(assessment.faults) == {Aspect.ESSENTIAL}
    assert assessment.essential is None
    assert assessment.contexts["1"].relevant is True
    assert len(provider.asked) == 2


def test_the_better_of_two_replies_is_kept_whole():
    exchange, _ = run(reply(need=["7.7"]), make_completion("no JSON", model="fake-2"))
    assessment = exchange.run()
    assert set(assessment.faults) == {Aspect.ESSENTIAL}
    assert assessment.contexts["1"].relevant is True
    assert assessment.answered_model == "fake-1"
    assert purposes(assessment) == [("assess", "verdict_mismatch"), ("repair", "invalid_reply")]


def test_two_half_good_replies_are_not_mixed():
    half, other_half = reply(need=["7.7"]), reply(c=[{"k": "1", "y": 0}], need=["2.1"])
    exchange, _ = run(half, other_half)
    assessment = exchange.run()
    assert set(assessment.faults) == {Aspect.RELEVANT}
    assert assessment.essential == ("2.1",)
    assert assessment.contexts is None or assessment.contexts["1"].relevant is None


def test_a_reply_cut_off_is_asked_for_once_more_with_twice_the_room():
    exchange, provider = run(make_completion('{"c": [', finish_reason="length"), reply(), max_tokens=100)
    assessment = exchange.run()
    assert [asked["max_tokens"] for asked in provider.asked] == [100, 200]
    assert provider.asked[0]["messages"] == provider.asked[1]["messages"]
    assert assessment.faults == {}
    assert purposes(assessment) == [("assess", "reply_truncated"), ("length", "ok")]


def test_cut_off_twice_is_an_error_without_a_repair():
    exchange, provider = run(*[make_completion("{", finish_reason="length")] * 2)
    assessment = exchange.run()
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.REPLY_TRUNCATED}
    assert set(assessment.faults) == ASPECTS
    assert len(provider.asked) == 2


def test_a_model_without_more_room_cuts_off_for_good():
    refused = CallFaultError(Cause.JUDGE_REJECTED_REQUEST, "400", evidence="max_tokens is too large")
    exchange, _ = run(make_completion("{", finish_reason="length"), refused)
    assessment = exchange.run()
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.REPLY_TRUNCATED}
    assert assessment.calls[1].reply == "max_tokens is too large"


def test_at_most_three_calls_whatever_comes_back():
    exchange, provider = run(
        make_completion("x", finish_reason="length"),
        make_completion("no JSON"),
        make_completion("x", finish_reason="length"),
    )
    assessment = exchange.run()
    assert len(provider.asked) == 3
    assert purposes(assessment) == [
        ("assess", "reply_truncated"),
        ("length", "invalid_reply"),
        ("repair", "reply_truncated"),
    ]
    assert [asked["max_tokens"] for asked in provider.asked] == [100, 200, 200]


@pytest.mark.parametrize("cause", [Cause.CONTENT_REFUSED, Cause.CONTEXT_WINDOW_EXCEEDED])
def test_a_refused_request_is_not_repaired(cause):
    exchange, provider = run(CallFaultError(cause, "400", evidence="words", seconds=0.1))
    assessment = exchange.run()
    assert {fault.cause for fault in assessment.faults.values()} == {cause}
    assert len(provider.asked) == 1
    assert (assessment.calls[0].outcome, assessment.calls[0].reply) == (cause, "words")
    assert assessment.calls[0].cost_usd is None


def test_a_filtered_reply_is_not_repaired():
    exchange, provider = run(make_completion("half", finish_reason="content_filter"))
    assert {fault.cause for fault in exchange.run().faults.values()} == {Cause.CONTENT_REFUSED}
    assert len(provider.asked) == 1


OUTAGES = [JudgeUnavailableError("gpt", "503"), JudgePausedError("gpt", "401")]


def told(outage):
    return [(call.purpose, call.outcome, call.cost_usd) for call in outage.calls]


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_in_the_repair_is_raised_with_the_paid_call_and_the_failed_one(outage):
    exchange, _ = run(make_completion("no JSON", cost_usd=0.01), outage)
    with pytest.raises(type(outage)) as raised:
        exchange.run()
    assert told(raised.value) == [("assess", "invalid_reply", 0.01), ("repair", "judge_unavailable", None)]
    assert raised.value.calls[0].reply == "no JSON"
    assert raised.value.calls[1].tokens_in is None
    assert not raised.value.calls[1].is_answered


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_in_the_only_call_is_a_call_that_took_its_time(outage):
    def fail_late():
        _wait_until(begun + 0.01)
        return outage

    begun = time.monotonic()
    exchange, _ = run(fail_late)
    with pytest.raises(type(outage)) as raised:
        exchange.run()
    assert told(raised.value) == [("assess", "judge_unavailable", None)]
    assert 0 < raised.value.calls[0].seconds < 5
    assert raised.value.calls[0].reply == str(outage)


def test_an_outage_after_a_reply_that_was_cut_off_tells_both_calls():
    exchange, _ = run(make_completion("{", finish_reason="length", cost_usd=0.02), OUTAGES[0])
    with pytest.raises(JudgeUnavailableError) as raised:
        exchange.run()
    assert told(raised.value) == [("assess", "reply_truncated", 0.02), ("length", "judge_unavailable", None)]


def test_a_call_without_an_answer_is_named_as_the_cause_is():
    assert UNANSWERED == Cause.JUDGE_UNAVAILABLE


def test_what_was_never_asked_is_no_call():
    exchange, _ = run(make_completion("no JSON", cost_usd=0.01), NotAskedError("gpt", "no key"))
    with pytest.raises(JudgePausedError) as raised:
        exchange.run()
    assert told(raised.value) == [("assess", "invalid_reply", 0.01)]


def test_nothing_is_begun_after_the_deadline():
    exchange, provider = run(seconds=0)
    assert {fault.cause for fault in exchange.run().faults.values()} == {Cause.DEADLINE_EXCEEDED}
    assert provider.asked == []


def test_no_repair_without_time_for_it():
    def answer_late():
        _wait_until(exchange.deadline)
        return reply(need=["7.7"])

    exchange, provider = run(answer_late, seconds=0.05)
    assessment = exchange.run()
    assert assessment.faults[Aspect.ESSENTIAL].cause is Cause.VERDICT_MISMATCH
    assert assessment.contexts["1"].relevant is True
    assert len(provider.asked) == 1


def test_without_time_for_a_repair_the_fault_is_the_replys_own():
    def answer_late():
        _wait_until(exchange.deadline)
        return make_completion("no JSON")

    exchange, provider = run(answer_late, seconds=0.05)
    assert {fault.cause for fault in exchange.run().faults.values()} == {Cause.INVALID_REPLY}
    assert len(provider.asked) == 1


def test_a_repair_that_the_deadline_ended_keeps_the_first_reply():
    def time_out():
        _wait_until(exchange.deadline)
        return JudgeUnavailableError("gpt", "timeout")

    exchange, provider = run(reply(need=["7.7"]), time_out, seconds=0.05)
    assessment = exchange.run()
    assert set(assessment.faults) == {Aspect.ESSENTIAL}
    assert purposes(assessment) == [("assess", "verdict_mismatch"), ("repair", "judge_unavailable")]
    assert provider.asked[1]["timeout_seconds"] <= 0.06


@pytest.mark.parametrize(
    ("remaining", "timeout"),
    [(120, 60), (60, 60), (59, 30), (30, 30), (8, 7.5), (0.1, 60 / 1024), (0, 60 / 1024)],
)
def test_timeouts_are_few_and_fit_into_the_time_that_remains(remaining, timeout):
    assert choose_timeout(60, remaining_seconds=remaining) == timeout


def test_raw_replies_are_kept_up_to_a_bound_and_storable():
    exchange, _ = run(*[make_completion("\x00" + "\u20ac" * 20_000)] * 2)
    kept = exchange.run().calls[0].reply
    assert len(kept.encode()) <= 16 * 1024
    assert set(kept) == {"\ufffd", "\u20ac"}


def _wait_until(moment):
    while time.monotonic() < moment:
        time.sleep(0.001)


class TestCovering:
    """Nothing that is redacted leaves again or rests, wherever a provider's words are cut."""

    COVER = choose_cover(
        PatternRedaction(RedactionOptions(patterns=("email", "card")), read_secret=lambda: b"")
    )

    @pytest.mark.parametrize("longest", [4_000, 600, 100])
    def test_a_repair_shows_no_address_of_the_bad_reply_and_no_half_of_one(self, longest):
        bad = reply(need=["7.7"], why=cut_at(longest - 80 if longest == 4_000 else longest))
        exchange, provider = run(bad, reply(), cover=self.COVER)
        exchange.run()
        asked = json.dumps(provider.asked[1]["messages"])
        assert "7.7" in asked
        assert NAME not in asked

    def test_what_a_fault_quotes_is_no_half_of_an_address(self):
        bad = reply(need=[cut_at(37)], why="")
        exchange, provider = run(bad, bad, cover=self.COVER)
        assessment = exchange.run()
        assert NAME not in json.dumps(provider.asked[1]["messages"])
        assert NAME not in str(assessment.faults)

    def test_reasons_and_raw_replies_that_are_cut_hold_no_half_of_an_address(self):
        long = reply(why=cut_at(600), more=cut_at(16 * 1024 - 40))
        assessment = run(long, cover=self.COVER)[0].run()
        assert assessment.faults == {}
        assert NAME not in assessment.reason
        assert len(assessment.calls[0].reply) > 16_000
        assert NAME not in assessment.calls[0].reply[-200:]

    def test_what_a_provider_says_of_its_refusal_holds_no_half_of_an_address(self):
        fault = CallFaultError(Cause.CONTENT_REFUSED, "refused", evidence=cut_at(2_000))
        (call,) = run(fault, cover=self.COVER)[0].run().calls
        assert 1_900 < len(call.reply) <= 2_000
        assert NAME not in call.reply

    def test_verdicts_stay_what_they_are_whatever_is_covered(self):
        everything = run(reply(), cover=lambda texts: ("[all]",) * len(texts))[0].run()
        assert everything.faults == {}
        assert everything.essential == ("1.1",)
