"""Usage, costs, tags and references as libraries write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_texts import read_answer
from ragsonde.extraction.conventions.recorded_values import read_value, write_rule
from ragsonde.extraction.documents import read_document, read_name, read_score
from ragsonde.extraction.findings import Found, cite
from ragsonde_schemas.trace import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNT_KEYS = {
    "prompt_tokens": ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "input"),
    "completion_tokens": ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "output"),
    "total_tokens": ("total_tokens", "totalTokens", "total"),
}
_COST_KEYS = ("total_cost", "total", "cost")
_COST_PARTS = (("input_cost", "output_cost"), ("input", "output"))
_REFERENCE_KEYS = ("expected_response", "expected_answer", "expected_output", "reference", "ground_truth")
_CONTEXTS_KEYS = ("expected_retrieved_context", "contexts", "expected_contexts")


def collect_facts(values: Mapping[str, tuple[str, Any]], *, convention: str) -> dict[str, Found]:
    """Those of the fields (field -> attribute, value) that have a value, each with its rule."""
    return {
        field: Found(value, cite(write_rule(convention, name)))
        for field, (name, value) in values.items()
        if value is not None and value not in ((), {})
    }


def read_usage(counts: Mapping[str, Any]) -> dict[str, int]:
    """Tokens by the names `prompt_tokens`, `completion_tokens`, `total_tokens`; those that are counts."""
    usage: dict[str, int] = {}
    for name, keys in _COUNT_KEYS.items():
        found = (read_score(counts.get(key)) for key in keys)
        count = next((count for count in found if count is not None and count >= 0), None)
        if count is not None:
            usage[name] = int(count)
    return usage


def read_cost(costs: Mapping[str, Any]) -> float | None:
    """What a call cost in US dollars: the total, else the sum of its parts; None where it is unknown."""
    total = next((cost for key in _COST_KEYS if (cost := _read_amount(costs.get(key))) is not None), None)
    if total is not None:
        return total
    for keys in _COST_PARTS:
        parts = [cost for key in keys if (cost := _read_amount(costs.get(key))) is not None]
        if parts:
            return _read_amount(sum(parts))
    return None


def read_tags(recorded: object) -> tuple[str, ...]:
    """The texts of a list of tags; one text is one tag."""
    value = read_value(recorded)
    tags = value if isinstance(value, list) else [value]
    return tuple(tag for tag in tags if isinstance(tag, str) and tag.strip())


def read_reference(recorded: object) -> Reference | None:
    """What a person says is right: a text, or an object with answer or contexts; None where it is neither."""
    value = read_value(recorded)
    if not isinstance(value, dict):
        answer = read_answer(value)
        return Reference(answer=answer) if answer else None
    stated = (read_answer(value.get(key)) for key in _REFERENCE_KEYS)
    answer = next((text for text in stated if text), None) or read_answer(value) or None
    listed = (read_value(value.get(key)) for key in _CONTEXTS_KEYS)
    expected = next((items for items in listed if isinstance(items, list)), [])
    ids = [read_name(item.get("doc_uri")) if isinstance(item, dict) else None for item in expected]
    texts = [read_document(item).content for item, name in zip(expected, ids, strict=True) if name is None]
    reference = Reference(
        answer=answer,
        contexts=tuple(text for text in texts if text is not None),
        context_ids=tuple(name for name in ids if name is not None),
    )
    return None if reference == Reference() else reference


def _read_amount(value: object) -> float | None:
    amount = read_score(value)
    return amount if amount is not None and amount >= 0 else None
