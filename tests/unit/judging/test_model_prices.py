from __future__ import annotations

import subprocess
import sys

import pytest

from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.model_options import TokenPrices
from ragsonde.judging.model_prices import check_prices, find_prices, price_tokens
from ragsonde.judging.options import JudgeOptions
from ragsonde_schemas.errors import ConfigError

PRICES = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}


def test_prices_are_configured_or_listed_or_not_known():
    configured = TokenPrices(**PRICES)
    assert find_prices("openai/gpt-4o-mini", configured=configured) is configured
    listed = find_prices("openai/gpt-4o-mini", configured=None)
    assert listed.input_usd_per_million == pytest.approx(0.15)
    assert listed.output_usd_per_million == pytest.approx(0.60)
    assert find_prices("openai/mock", configured=None) is None


def test_a_model_that_is_listed_without_a_price_has_none(monkeypatch):
    litellm = load_litellm().module
    monkeypatch.setitem(
        litellm.model_cost, "openai/priceless-1", {"litellm_provider": "openai", "mode": "chat"}
    )
    assert find_prices("openai/priceless-1", configured=None) is None


def test_tokens_cost_what_a_million_of_them_costs_a_millionth_each():
    assert price_tokens(TokenPrices(**PRICES), tokens_in=500_000, tokens_out=250_000) == pytest.approx(3.0)


BUDGET = {"usd_per_day": 5}


def judge_options(name="gpt", **options):
    return JudgeOptions(name=name, kind="litellm", **{"model": "openai/mock", "budget": BUDGET, **options})


@pytest.mark.parametrize(
    "options",
    [
        judge_options(model="openai/gpt-4o-mini", fallbacks=["openai/gpt-5-mini"]),
        judge_options(prices=PRICES),
        judge_options(budget={"calls_per_day": 5}, fallbacks=["openai/mock-2"]),
        judge_options(budget=None),
        JudgeOptions(name="free", kind="lexical"),
    ],
)
def test_a_budget_in_dollars_whose_prices_are_known_and_any_other_is_right(options):
    check_prices([options])


def test_each_model_without_a_price_under_a_budget_in_dollars_is_named_with_the_way_out():
    fallbacks = ["openai/gpt-4o-mini", {"model": "openai/mock-2"}, {"model": "openai/mock", "prices": PRICES}]
    with pytest.raises(ConfigError) as raised:
        check_prices([JudgeOptions(name="free", kind="lexical"), judge_options(fallbacks=fallbacks)])
    first, second = raised.value.problems
    assert first.startswith("judges[1].model: 'openai/mock' has no price")
    assert "judge gpt has a budget in dollars" in first
    assert "set its `prices`" in first
    assert "a budget in calls or tokens" in first
    assert second.startswith("judges[1].fallbacks[1]: 'openai/mock-2'")
    assert "`prices` of this fallback" in second


@pytest.mark.parametrize(
    ("options", "is_loaded"),
    [({"budget": {"calls_per_day": 5}}, False), ({"prices": PRICES}, False), ({"model": "gpt-4o"}, True)],
)
def test_the_list_of_prices_is_read_only_where_it_is_needed(options, is_loaded):
    given = judge_options(**options).model_dump(mode="json", exclude_none=True)
    code = (
        "import sys; from ragsonde.judging.model_prices import check_prices;"
        "from ragsonde.judging.options import JudgeOptions;"
        f"check_prices([JudgeOptions(**{given!r})]);"
        "print('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(is_loaded)
