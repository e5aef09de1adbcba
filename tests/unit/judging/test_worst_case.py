from __future__ import annotations

import json

import pytest

from fakes.judged_traces import ALL_ASPECTS, make_trace
from mock_llm.server import MockLlm
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.model_options import TokenPrices
from ragsonde.judging.model_prices import find_prices, price_tokens
from ragsonde.judging.options import JudgeOptions
from ragsonde_schemas.assessment import Aspect

ASPECTS = ALL_ASPECTS - {Aspect.SUPPORTS}
PRICES = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}


def estimate(trace=None, **options):
    given = {"model": "openai/mock", "max_tokens": 100, **options}
    return LitellmJudge(JudgeOptions(name="gpt", kind="litellm", **given)).estimate(
        trace or make_trace(), ASPECTS
    )


def test_it_is_three_calls_and_the_longest_replies():
    worst = estimate(prices=PRICES)
    tokens_out = 100 + 200 + 200
    assert worst.calls == 3
    assert worst.cost_usd == pytest.approx(((worst.tokens - tokens_out) * 2 + tokens_out * 8) / 1e6)


@pytest.mark.parametrize("script", ["garbage", ["length", "garbage"], ["context_window", "garbage"], "ok"])
def test_what_is_really_sent_stays_below_it(script):
    count = load_litellm().module.token_counter
    with MockLlm(script) as llm:
        options = JudgeOptions(
            name="gpt",
            kind="litellm",
            model="openai/gpt-4o-mini",
            api_base=llm.url,
            api_key="sk-x",
            max_tokens=300,
        )
        judge, trace = LitellmJudge(options), make_trace()
        judge.assess(trace, ASPECTS)
        sent = sum(
            count(model="gpt-4o-mini", messages=call.messages)
            + count(model="gpt-4o-mini", text=json.dumps(call.request["response_format"]))
            + call.request["max_tokens"]
            for call in llm.calls
        )
        assert llm.total <= judge.estimate(trace, ASPECTS).calls
        assert sent <= judge.estimate(trace, ASPECTS).tokens


def test_parts_are_counted_each():
    trace = make_trace(*["The torch needs a battery of the list. " * 20] * 4)
    one, two = estimate(trace), estimate(trace, max_context_tokens=500)
    assert (one.calls, two.calls) == (3, 6)
    assert two.tokens > one.tokens


def test_the_reply_may_be_as_long_as_configured():
    assert estimate(max_tokens=1000).tokens - estimate(max_tokens=900).tokens == 5 * 100 + 200


def test_prices_are_configured_or_listed_or_not_known():
    configured = TokenPrices(**PRICES)
    assert find_prices("openai/gpt-4o-mini", configured=configured) is configured
    listed = find_prices("openai/gpt-4o-mini", configured=None)
    assert listed.input_usd_per_million == pytest.approx(0.15)
    assert listed.output_usd_per_million == pytest.approx(0.60)
    assert find_prices("openai/mock", configured=None) is None
    assert estimate(model="openai/mock").cost_usd is None
    assert estimate(model="openai/gpt-4o-mini").cost_usd > 0


def test_a_model_that_is_listed_without_a_price_has_none(monkeypatch):
    litellm = load_litellm().module
    monkeypatch.setitem(
        litellm.model_cost, "openai/priceless-1", {"litellm_provider": "openai", "mode": "chat"}
    )
    assert find_prices("openai/priceless-1", configured=None) is None


def test_tokens_cost_what_a_million_of_them_costs_a_millionth_each():
    assert price_tokens(TokenPrices(**PRICES), tokens_in=500_000, tokens_out=250_000) == pytest.approx(3.0)
