from __future__ import annotations

import json

import pytest

from fakes.judged_traces import ALL_ASPECTS, make_trace
from mock_llm.server import MockLlm
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.options import JudgeOptions
from ragsonde_schemas.assessment import Aspect

ASPECTS = ALL_ASPECTS - {Aspect.SUPPORTS}
PRICES = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}


def estimate(trace=None, **options):
    given = {"model": "openai/mock", "max_tokens": 100, **options}
    return LitellmJudge(JudgeOptions(name="gpt", kind="litellm", **given)).estimate(
        trace or make_trace(), ASPECTS
    )


def test_it_is_three_calls_and_the_prompts_and_replies_of_two():
    worst = estimate(prices=PRICES, max_tokens=100)
    tokens_out = 2 * 100
    assert worst.calls == 3
    assert worst.cost_usd == pytest.approx(((worst.tokens - tokens_out) * 2 + tokens_out * 8) / 1e6)


@pytest.mark.parametrize("script", ["garbage", ["length", "garbage"], ["context_window", "garbage"], "ok"])
def test_no_more_calls_are_made_and_replies_of_the_usual_size_stay_below_it(script):
    count = load_litellm().module.token_counter
    with MockLlm(script) as llm:
        options = JudgeOptions(
            name="gpt", kind="litellm", model="openai/gpt-4o-mini", api_base=llm.url, api_key="sk-x"
        )
        judge, trace = LitellmJudge(options), make_trace()
        told = judge.assess(trace, ASPECTS).calls
        sent = sum(
            count(model="gpt-4o-mini", messages=call.messages)
            + count(model="gpt-4o-mini", text=json.dumps(call.request["response_format"]))
            for call in llm.calls
        )
        received = sum(count(model="gpt-4o-mini", text=call.reply) for call in told if call.reply)
        worst = judge.estimate(trace, ASPECTS)
        assert llm.total <= worst.calls
        assert sent + received <= worst.tokens


def test_every_part_is_counted_and_its_calls_are_an_upper_bound():
    trace = make_trace(*["The torch needs a battery of the list. " * 20] * 4)
    one, two = estimate(trace), estimate(trace, max_context_tokens=500)
    assert (one.calls, two.calls) == (3, 6)
    assert two.tokens > one.tokens


def test_a_reply_is_foreseen_long_but_never_longer_than_is_allowed():
    short, longer, longest = (estimate(max_tokens=limit).tokens for limit in (100, 200, 100_000))
    assert longer - short == 2 * 100 + 100, "two replies, one of them shown again"
    assert longest == estimate(max_tokens=4096).tokens


@pytest.mark.parametrize("more", ["contexts", "sentences", "answer"])
def test_more_to_be_judged_is_a_longer_reply(more):
    traces = {
        "contexts": (make_trace("a"), make_trace("a", "b")),
        "sentences": (make_trace("It runs. it stops."), make_trace("It runs. It stops.")),
        "answer": (make_trace(answer="a"), make_trace(answer="a torch and a lamp " * 20)),
    }
    aspects = ASPECTS | {Aspect.CLAIMS}

    def foresee(trace):
        judge = LitellmJudge(JudgeOptions(name="gpt", kind="litellm", model="openai/mock", prices=PRICES))
        worst = judge.estimate(trace, aspects)
        # two prices, two unknowns: what is sent and what is received
        return (worst.cost_usd * 1e6 - 2 * worst.tokens) / (8 - 2)

    less, longer = (foresee(trace) for trace in traces[more])
    assert longer > less


def test_the_cost_is_unknown_where_the_price_is():
    assert estimate(model="openai/mock").cost_usd is None
    assert estimate(model="openai/gpt-4o-mini").cost_usd > 0
