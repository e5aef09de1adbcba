"""Session, user, model, tokens and costs as the GenAI conventions name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.findings import Found, cite

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = {
    "session_id": ("gen_ai.conversation.id", "session.id"),
    "user_id": ("user.id", "enduser.id", "gen_ai.request.user"),
}
_DERIVED_NAMES = {
    "app": ("gen_ai.application_name",),
    "environment": ("gen_ai.environment",),
    "release": ("gen_ai.agent.version",),
}
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")
_NO_MODEL = "unknown"
_TOKENS = {
    "prompt_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "completion_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "total_tokens": ("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
    "cache_read_tokens": ("gen_ai.usage.cache_read.input_tokens",),
}
_COST = "gen_ai.usage.cost"
_PROMPT_NAME = "gen_ai.prompt.name"


def read_facts(attributes: Mapping[str, Any], *, names_model: bool) -> dict[str, Found]:
    """The facts of one span.

    Args:
        attributes: of the span.
        names_model: its model is the one that answers; an embedding's is not, and its tokens count apart.
    """
    facts = _find_names(attributes, _NAMES, is_exact=True)
    facts.update(_find_names(attributes, _DERIVED_NAMES, is_exact=False))
    prompt = read_name(attributes.get(_PROMPT_NAME))
    if prompt is not None:
        facts["metadata"] = Found({_PROMPT_NAME: prompt})
    if not names_model:
        return facts
    model = _find_model(attributes)
    if model is not None:
        facts["model"] = model
    usage = {name: count for name, keys in _TOKENS.items() if (count := _count(attributes, keys)) is not None}
    if usage:
        facts["usage"] = Found(usage)
    if _COST in attributes:
        facts["cost_usd"] = Found(read_score(attributes[_COST]))
    return facts


def _find_names(
    attributes: Mapping[str, Any], places: Mapping[str, tuple[str, ...]], *, is_exact: bool
) -> dict[str, Found]:
    found: dict[str, Found] = {}
    for field, keys in places.items():
        for key in keys:
            name = read_name(attributes.get(key))
            if name is not None:
                found[field] = Found(name, cite(f"genai:{key}", is_exact=is_exact))
                break
    return found


def _find_model(attributes: Mapping[str, Any]) -> Found | None:
    for key in _MODELS:
        model = attributes.get(key)
        if isinstance(model, str) and model.strip() and model.strip().lower() != _NO_MODEL:
            return Found(model, cite(f"genai:{key}"))
    return None


def _count(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        count = read_score(attributes.get(key))
        if count is not None and count >= 0:
            return int(count)
    return None
