"""The result of a Haystack pipeline's run: each component's outputs under the component's name.

Names are the application's own, so a result is known by its shape: some component delivered `documents`,
`replies` or `answers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents
from ragsonde_schemas.message import TraceMessage

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "haystack_output"
_WRAPPERS = ("result", "results", "output", "outputs")
_DOCUMENT_WORDS = frozenset({"content", "meta", "score", "blob", "embedding", "dataframe"})
_NOT_COMPONENTS = frozenset(TraceMessage.model_fields) | {"data"}


def is_haystack_output(value: object) -> bool:
    """True where a component, at the top or under `result`, delivered replies, answers or documents."""
    if not isinstance(value, dict) or not NATIVE_KEYS.isdisjoint(value) or "run_type" in value:
        return False
    return any(_is_component(item) for _, item in _list_components(value))


def decode_haystack_output(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One run of a pipeline.

    Raises:
        DecodeError: OVER_LIMIT where a component delivered more documents than a message may hold contexts.
    """
    for place, component in _list_components(document.value):
        check_count(component.get("documents"), *place, "documents", limit=limits.contexts)
    return gather_documents(FORMAT, [Piece(document.value)], document=document)


def _list_components(value: dict[str, Any]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The objects under names that may be components', at the top or inside a wrapper, with their places."""
    found = [
        ((name,), item)
        for name, item in value.items()
        if isinstance(item, dict) and name not in _NOT_COMPONENTS
    ]
    wrapped = [
        ((wrapper, name), item)
        for wrapper in _WRAPPERS
        if isinstance(value.get(wrapper), dict)
        for name, item in value[wrapper].items()
        if isinstance(item, dict) and name not in _NOT_COMPONENTS
    ]
    return [*found, *wrapped]


def _is_component(outputs: dict[str, Any]) -> bool:
    if any(isinstance(outputs.get(key), list) for key in ("replies", "answers")):
        return True
    documents = outputs.get("documents")
    if not isinstance(documents, list):
        return False
    return all(isinstance(item, dict) and not _DOCUMENT_WORDS.isdisjoint(item) for item in documents)
