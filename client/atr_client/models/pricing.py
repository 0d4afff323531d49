"""What a call costs, in US dollars. An unknown price is None, never 0."""

from __future__ import annotations

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price

from atr_client.models.catalogue import Price, RemoteModel
from atr_data.usage import Usage

_MILLION = 1_000_000
_UNLISTED = {"qwen"}
"""Providers that genai-prices does not know by our name."""


def cost_of(usage: Usage, model: RemoteModel) -> float | None:
    """The price of one call: the registry's, else that of genai-prices, else None. Of the prompt no more can
    have been cached than there was."""
    cached = min(usage.cached_tokens + usage.prompt_cache_hit_tokens, usage.prompt_tokens)
    if model.entry.price is not None:
        return _by_registry(usage, cached, model.entry.price)
    priced = PricedUsage(
        input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, cache_read_tokens=cached
    )
    provider = None if model.provider in _UNLISTED else model.provider
    try:
        return float(calc_price(priced, model.model, provider_id=provider).total_price)
    except LookupError:
        return None


def _by_registry(usage: Usage, cached: int, price: Price) -> float:
    cached_price = price.input if price.cached_input is None else price.cached_input
    dollars = (
        (usage.prompt_tokens - cached) * price.input
        + cached * cached_price
        + usage.completion_tokens * price.output
    )
    return dollars / _MILLION
