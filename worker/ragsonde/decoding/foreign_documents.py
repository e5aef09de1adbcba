"""Other tools' JSON as records: one document, or several cut out of a page or batch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded, ForeignDocument
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.decoding.json_text import JsonDocument, Place

_Item = TypeVar("_Item")
_PATH_ENDS = re.compile(r"(?=[.\[])|\Z")
"""Where the path of a value in a path ends."""

NATIVE_KEYS = frozenset({"schema_version", "contexts"})
"""With one of these at its top a message is a native one, whatever else it carries."""


class Piece(NamedTuple):
    """One record's document and the places in the message that it was put together from."""

    document: dict[str, Any]
    places: Sequence[Place] = ((),)


NATIVE_FIELDS = NATIVE_KEYS | {"query", "retrieval_query", "answer", "messages"}
"""With one of these a message that names a trace may well be a native one."""


def gather_documents(
    name: str, pieces: Sequence[Piece], *, document: JsonDocument, faults: Sequence[DecodeError] = ()
) -> Decoded:
    """One record a piece, in order; each warns of the texts that were mended in its own places.

    A piece with a part that cannot be kept is a fault beside the others.

    Args:
        name: of the format.
        pieces: in the order of the message.
        document: the whole message.
        faults: why other parts of the message are in no piece.

    Raises:
        DecodeError: the first fault, where there is no good piece.
    """
    damaged = _group_by_piece([(item.place, item) for item in document.damage], pieces)
    mended = _group_by_piece([(path, path) for path in document.mended], pieces)
    records = [
        ForeignDocument(
            format=name,
            document=piece.document,
            warnings=describe_mending(tuple(mended.get(number, ()))),
        )
        for number, piece in enumerate(pieces)
        if number not in damaged
    ]
    if document.refusal is not None and not records:
        raise document.refusal
    faults = (*(damaged[number][0].to_error() for number in sorted(damaged)), *faults)
    if faults and not records:
        raise faults[0]
    return Decoded(format=name, records=tuple(records), faults=faults)


def check_count(value: object, *where: str | int, limit: int) -> None:
    """Refuses a list of more than `limit` items; anything else is let through.

    Raises:
        DecodeError: OVER_LIMIT.
    """
    if isinstance(value, list) and len(value) > limit:
        message = f"found a list of {len(value)}, expected at most {limit}"
        raise DecodeError(ParkReason.OVER_LIMIT, message, where=format_path(*where))


def _group_by_piece(
    found: Sequence[tuple[str | Place, _Item]], pieces: Sequence[Piece]
) -> dict[int, list[_Item]]:
    """What was found in each piece, by its number; one that is the whole message has all of it.

    Args:
        found: paths or places in the message, and what was found there.
        pieces: no two of them have a place in common.
    """
    groups: dict[int, list[_Item]] = {}
    if not found:
        return groups
    owners = {
        format_path(*place): number for number, piece in enumerate(pieces) for place in piece.places if place
    }
    wholes = [number for number, piece in enumerate(pieces) if () in piece.places]
    longest = max(map(len, owners), default=0)
    for place, item in found:
        path = place if isinstance(place, str) else format_path(*place)
        starts = (path[: match.start()] for match in _PATH_ENDS.finditer(path, 0, longest + 1))
        owner = next((owners[start] for start in starts if start in owners), None)
        for number in wholes if owner is None else (*wholes, owner):
            groups.setdefault(number, []).append(item)
    return groups
