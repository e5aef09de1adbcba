"""LlamaIndex's response object, as `dataclasses.asdict` and `model_dump` write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "llamaindex_response"
_ANSWER_KEYS = frozenset({"response", "response_txt", "answer"})


def is_llamaindex_response(value: object) -> bool:
    """True for an object with a list `source_nodes` and a place for the answer."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("source_nodes"), list)
        and not _ANSWER_KEYS.isdisjoint(value)
        and NATIVE_KEYS.isdisjoint(value)
    )


def decode_llamaindex_response(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One response.

    Raises:
        DecodeError: OVER_LIMIT where it holds more source nodes than a message may hold contexts.
    """
    check_count(document.value["source_nodes"], "source_nodes", limit=limits.contexts)
    return gather_documents(FORMAT, [Piece(document.value)], document=document)
