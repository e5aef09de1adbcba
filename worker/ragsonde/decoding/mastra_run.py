"""Mastra's scorer runs: what a scorer was given, a stored score, or the hook's own message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents
from ragsonde.extraction.foreign.places import look_up

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "mastra_run"
_INPUT_MESSAGES = ("inputMessages", "rememberedMessages", "systemMessages")
_OWN_KEYS = frozenset(
    {
        "additionalContext",
        "entity",
        "entityId",
        "entityType",
        "groundTruth",
        "requestContext",
        "resourceId",
        "runtimeContext",
        "scorer",
        "scorerId",
        "threadId",
    }
)


def is_mastra_run(value: object) -> bool:
    """True for an object with an agent's input messages, or with a `runId` beside Mastra's words."""
    if not isinstance(value, dict) or not NATIVE_KEYS.isdisjoint(value) or "output" not in value:
        return False
    if isinstance(look_up(value, "input", "inputMessages"), list):
        return True
    return isinstance(value.get("runId"), str) and (
        not _OWN_KEYS.isdisjoint(value) or value.keys() <= {"runId", "input", "output"}
    )


def decode_mastra_run(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One scorer run.

    Raises:
        DecodeError: OVER_LIMIT where it holds more messages than a list may.
    """
    run = document.value
    for key in _INPUT_MESSAGES:
        check_count(look_up(run, "input", key), "input", key, limit=limits.list_items)
    check_count(run["output"], "output", limit=limits.list_items)
    return gather_documents(FORMAT, [Piece(run)], document=document)
