"""What a model costs: as configured, else by litellm's list of prices, else not known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.model_options import TokenPrices
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ragsonde.judging.options import JudgeOptions

_TOKENS = 1e6
_PRICES = ("input_cost_per_token", "output_cost_per_token")


def find_prices(model: str, *, configured: TokenPrices | None) -> TokenPrices | None:
    """The prices of a model, None where they are not known: that is not 0."""
    return configured or _find_listed(model)


def price_tokens(prices: TokenPrices, *, tokens_in: int, tokens_out: int) -> float:
    """US dollars."""
    paid = tokens_in * prices.input_usd_per_million + tokens_out * prices.output_usd_per_million
    return paid / _TOKENS


def check_prices(judges: Iterable[JudgeOptions]) -> None:
    """Nothing where every judge with a budget in dollars has a price for each of its models.

    litellm's list is read only where such a judge leaves a price to it. What the models of installed packages
    cost is known to them alone.

    Raises:
        ConfigError: a price is not known: what is spent could not be told.
    """
    problems = [
        f"{place}: {model!r} has no price that is known, but judge {judge.name} has a budget in dollars: set "
        f"{way_out} (input_usd_per_million and output_usd_per_million), or a budget in calls or tokens"
        for number, judge in enumerate(judges)
        if judge.budget is not None and any(limit.usd is not None for limit in judge.budget.limits)
        for place, model, way_out, prices in _list_models(judge, place=f"judges[{number}]")
        if find_prices(model, configured=prices) is None
    ]
    if problems:
        raise ConfigError(*problems)


def _list_models(judge: JudgeOptions, *, place: str) -> Iterator[tuple[str, str, str, TokenPrices | None]]:
    if judge.model is not None:
        yield f"{place}.model", judge.model, "its `prices`", judge.prices
    for number, fallback in enumerate(judge.fallbacks):
        yield f"{place}.fallbacks[{number}]", fallback.model, "`prices` of this fallback", fallback.prices


@lru_cache(maxsize=64)
def _find_listed(model: str) -> TokenPrices | None:
    """From the list itself: litellm's own look-up puts 0 where the list has no price."""
    litellm = load_litellm().module
    try:
        key = litellm.get_model_info(model)["key"]
    except Exception:  # noqa: BLE001 - litellm raises bare exceptions for models that it does not know
        return None
    row: Mapping[str, Any] = litellm.model_cost.get(key) or {}
    price_in, price_out = (row.get(name) for name in _PRICES)
    if price_in is None or price_out is None:
        return None
    return TokenPrices(input_usd_per_million=price_in * _TOKENS, output_usd_per_million=price_out * _TOKENS)
