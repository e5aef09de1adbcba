"""LiteLLM's StandardLoggingPayload: one model call, as its callbacks and its proxy log it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "litellm_payload"
_OWN_KEYS = frozenset(
    {"response_cost", "model_parameters", "hidden_params", "startTime", "model_map_information"}
)


def is_litellm_payload(value: object) -> bool:
    """True for an object with the payload's `call_type` and `model` and one more of its own words."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("call_type"), str)
        and "model" in value
        and not _OWN_KEYS.isdisjoint(value)
        and NATIVE_KEYS.isdisjoint(value)
    )


def decode_litellm_payload(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One model call.

    Raises:
        DecodeError: OVER_LIMIT where it holds more messages than a list may.
    """
    check_count(document.value.get("messages"), "messages", limit=limits.list_items)
    return gather_documents(FORMAT, [Piece(document.value)], document=document)
