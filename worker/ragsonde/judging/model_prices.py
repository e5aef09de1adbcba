"""What a model costs: as configured, else by litellm's list of prices, else not known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.model_options import TokenPrices

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TOKENS = 1e6
_PRICES = ("input_cost_per_token", "output_cost_per_token")


def find_prices(model: str, *, configured: TokenPrices | None) -> TokenPrices | None:
    """The prices of a model, None where they are not known: that is not 0."""
    return configured or _find_listed(model)


def price_tokens(prices: TokenPrices, *, tokens_in: int, tokens_out: int) -> float:
    """US dollars."""
    paid = tokens_in * prices.input_usd_per_million + tokens_out * prices.output_usd_per_million
    return paid / _TOKENS


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
