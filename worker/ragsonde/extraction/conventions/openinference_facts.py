"""Session, user, model, tokens and costs as OpenInference names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.openinference_attributes import read_json, read_text
from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.findings import Found, cite

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

_MODEL_NAMES = ("llm.model_name", "llm.response.model_name", "llm.request.model_name")
_TOKEN_COUNTS = {
    "llm.token_count.prompt": "prompt_tokens",
    "llm.token_count.completion": "completion_tokens",
    "llm.token_count.total": "total_tokens",
}
_COST = "llm.cost.total"
_NAMES = {
    "session_id": ("session.id", ("session_id", "thread_id", "conversation_id")),
    "user_id": ("user.id", ("user_id",)),
}


def read_facts(span: Span) -> dict[str, Found]:
    """The facts of one span; names that stand only in its metadata are derived."""
    facts: dict[str, Found] = {}
    metadata = read_json(span, "metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for field, (attribute, keys) in _NAMES.items():
        name = read_name(span.attributes.get(attribute))
        if name is not None:
            facts[field] = Found(name, cite(f"openinference:{attribute}"))
            continue
        name = next((name for key in keys if (name := read_name(metadata.get(key))) is not None), None)
        if name is not None:
            facts[field] = Found(name, cite("openinference:metadata", is_exact=False))
    for attribute in _MODEL_NAMES:
        model = read_text(span, attribute)
        if model is not None:
            facts["model"] = Found(model, cite(f"openinference:{attribute}"))
            break
    usage = {name: span.attributes[key] for key, name in _TOKEN_COUNTS.items() if key in span.attributes}
    if usage:
        facts["usage"] = Found(usage)
    if _COST in span.attributes:
        facts["cost_usd"] = Found(read_score(span.attributes[_COST]))
    if metadata:
        facts["metadata"] = Found(metadata)
    tags = _read_tags(span.attributes.get("tag.tags"))
    if tags:
        facts["tags"] = Found(tags)
    return facts


def _read_tags(tags: Any) -> tuple[str, ...]:  # noqa: ANN401 - an attribute holds anything
    if isinstance(tags, str):
        tags = read_embedded(tags) or [tags]
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
