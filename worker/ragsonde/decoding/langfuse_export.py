"""Langfuse's traces as JSON: the API's traces and pages, the page's download, lists of observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "langfuse_export"
_TRACE_WORDS = frozenset(
    {"timestamp", "projectId", "sessionId", "userId", "htmlPath", "bookmarked", "public", "scores"}
)


def is_langfuse_export(value: object) -> bool:
    """True for a trace, with its observations beside it or inside it, or a page or list of those.

    A list of observations counts too; a list of traces is left to be read one by one.
    """
    if isinstance(value, list):
        return bool(value) and all(_is_observation(item) for item in value)
    if not isinstance(value, dict):
        return False
    page = value.get("data")
    if isinstance(page, list) and page:
        return all(_is_trace(item) or _is_observation(item) for item in page)
    return _is_trace(value)


def decode_langfuse_export(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One trace, those of a page, or those that a list of observations belongs to.

    Raises:
        DecodeError: OVER_LIMIT where a trace holds more observations than a message may hold spans.
    """
    value = document.value
    if isinstance(value, dict) and _is_trace(value):
        pieces = [Piece(value)]
    else:
        above: Place = () if isinstance(value, list) else ("data",)
        items = value if isinstance(value, list) else value["data"]
        check_count(items, *above, limit=limits.spans)
        pieces = _split(items, above=above)
    for piece in pieces:
        check_count(piece.document.get("observations"), *piece.places[0], "observations", limit=limits.spans)
    return gather_documents(FORMAT, pieces, document=document)


def _split(items: list[dict[str, Any]], *, above: Place) -> list[Piece]:
    """A piece a trace, and one for all the observations of each trace that is not there itself."""
    pieces: list[Piece] = []
    loose: dict[str, list[tuple[Place, dict[str, Any]]]] = {}
    for index, item in enumerate(items):
        if _is_trace(item):
            pieces.append(Piece(item, ((*above, index),)))
        else:
            loose.setdefault(item["traceId"], []).append(((*above, index), item))
    pieces.extend(
        Piece(
            {"trace": {"id": trace_id}, "observations": [item for _, item in found]},
            tuple(place for place, _ in found),
        )
        for trace_id, found in loose.items()
    )
    return pieces


def _is_trace(value: object) -> bool:
    if not isinstance(value, dict) or not NATIVE_KEYS.isdisjoint(value):
        return False
    trace = value.get("trace")
    if isinstance(trace, dict):
        return isinstance(value.get("observations", trace.get("observations")), list)
    if not isinstance(value.get("id"), str):
        return False
    if isinstance(value.get("observations"), list):
        return not _TRACE_WORDS.isdisjoint(value)
    return "timestamp" in value and not {"projectId", "htmlPath", "bookmarked"}.isdisjoint(value)


def _is_observation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("traceId"), str)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("id"), str)
        and "startTime" in value
    )
