"""Dify's chat messages: the blocking response, the stream's last event, the list of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents
from ragsonde.extraction.foreign.places import look_up

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "dify_message"
_RESOURCES = ("retriever_resources",), ("metadata", "retriever_resources")
_IDS = frozenset({"conversation_id", "message_id", "task_id"})
_OWN_KEYS = frozenset({"mode", "event", "task_id", "created_at"})


def is_dify_message(value: object) -> bool:
    """True for a chat message of Dify, or a page of them under `data`."""
    if not isinstance(value, dict):
        return False
    page = value.get("data")
    if isinstance(page, list) and "has_more" in value:
        return bool(page) and all(_is_message(item) for item in page)
    return _is_message(value)


def decode_dify_message(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One chat message, or those of a page.

    Raises:
        DecodeError: OVER_LIMIT where a message holds more retriever resources than contexts are allowed.
    """
    value = document.value
    if _is_message(value):
        pieces = [Piece(value)]
    else:
        check_count(value["data"], "data", limit=limits.list_items)
        pieces = [Piece(item, (("data", index),)) for index, item in enumerate(value["data"])]
    for piece in pieces:
        for keys in _RESOURCES:
            check_count(look_up(piece.document, *keys), *piece.places[0], *keys, limit=limits.contexts)
    return gather_documents(FORMAT, pieces, document=document)


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not NATIVE_KEYS.isdisjoint(value) or _IDS.isdisjoint(value):
        return False
    if any(isinstance(look_up(value, *keys), list) for keys in _RESOURCES):
        return True
    return "answer" in value and "conversation_id" in value and not _OWN_KEYS.isdisjoint(value)
