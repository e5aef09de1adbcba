"""Langfuse's traces as JSON: the API's traces and pages, the page's download, lists of observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.foreign_documents import (
    NATIVE_FIELDS,
    NATIVE_KEYS,
    Piece,
    check_count,
    gather_documents,
)
from ragsonde.decoding.json_fields import describe_wrong, read_each
from ragsonde.decoding.parts import Part, read_text
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "langfuse_export"
_TRACE_WORDS = frozenset(
    {"timestamp", "projectId", "sessionId", "userId", "htmlPath", "bookmarked", "public", "scores"}
)
_OBSERVATION_WORDS = frozenset({"type", "startTime", "parentObservationId"})


def is_langfuse_export(value: object) -> bool:
    """True for a trace, with its observations beside it or inside it, a page of those, or an observation."""
    if not isinstance(value, dict):
        return False
    page = value.get("data")
    if isinstance(page, list) and page:
        return any(_is_trace(item) or _is_observation(item) for item in page)
    return _is_trace(value) or find_observation(value) is not None


def find_observation(value: object) -> Part | None:
    """What an observation says of its trace; None for any other value."""
    if (
        isinstance(value, dict)
        and isinstance(value.get("traceId"), str)
        and isinstance(value.get("id"), str)
        and not _OBSERVATION_WORDS.isdisjoint(value)
        and NATIVE_FIELDS.isdisjoint(value)
        and not _is_trace(value)
    ):
        return Part(value["id"], value["traceId"], read_text(value, "parentObservationId"))
    return None


def decode_langfuse_export(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One trace, those of a page, or those that observations belong to; of a list, its observations are read.

    What in a page is neither trace nor observation is a fault, and so is an observation that is below another
    and alone.

    Raises:
        DecodeError: OVER_LIMIT where a trace holds more observations than a message may hold spans;
            the first fault, where there is no trace.
    """
    value = document.value
    faults: list[DecodeError] = []
    if _is_trace(value):
        pieces = [Piece(value)]
    else:
        members, faults = read_each(_list_members(value, limits), _read_member)
        pieces, alone = _split(members)
        faults += alone
    for piece in pieces:
        check_count(piece.document.get("observations"), *piece.places[0], "observations", limit=limits.spans)
    return gather_documents(FORMAT, pieces, document=document, faults=faults)


def _list_members(value: Any, limits: DecodingLimits) -> list[tuple[Place, object]]:  # noqa: ANN401 any JSON
    """What a message holds, each with its place: of a list its observations, of a page all."""
    if isinstance(value, list):
        check_count(value, limit=limits.spans)
        return [((index,), item) for index, item in enumerate(value) if find_observation(item) is not None]
    page = value.get("data")
    if not isinstance(page, list):
        return [((), value)]
    check_count(page, "data", limit=limits.spans)
    return [(("data", index), item) for index, item in enumerate(page)]


def _read_member(value: object, place: Place) -> tuple[Place, dict[str, Any]]:
    """The trace or observation, with its place."""
    if isinstance(value, dict) and (_is_trace(value) or _is_observation(value)):
        return place, value
    if find_observation(value) is not None and isinstance(value, dict):
        key = "type" if isinstance(value.get("startTime"), str) else "startTime"
        message = f"found an observation without {key}, expected id, traceId, type and startTime of each"
        raise DecodeError(ParkReason.INVALID_MESSAGE, message, where=format_path(*place))
    raise describe_wrong(value, place, "a trace with its observations, or an observation")


def _split(members: list[tuple[Place, dict[str, Any]]]) -> tuple[list[Piece], list[DecodeError]]:
    """A piece a trace, and one for all the observations of each trace that is not there itself.

    One observation that is below another and is all there is of its trace is refused: it is not its trace.
    """
    pieces: list[Piece] = []
    loose: dict[str, list[tuple[Place, dict[str, Any]]]] = {}
    for place, item in members:
        if _is_trace(item):
            pieces.append(Piece(item, (place,)))
        else:
            loose.setdefault(item["traceId"], []).append((place, item))
    refused: list[DecodeError] = []
    for trace_id, found in loose.items():
        places = tuple(place for place, _ in found)
        observations = [item for _, item in found]
        if len(found) == 1 and read_text(observations[0], "parentObservationId") is not None:
            refused.append(_describe_alone(places[0]))
        else:
            pieces.append(Piece({"trace": {"id": trace_id}, "observations": observations}, places))
    return pieces, refused


def _describe_alone(place: Place) -> DecodeError:
    message = "found one observation alone that is below another, expected all of its trace"
    return DecodeError(
        ParkReason.INVALID_MESSAGE,
        f"{message}; send the trace, or the list of all its observations, in one message",
        where=format_path(*place, "parentObservationId"),
    )


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
