"""Other tools' JSON as records: one document, or several cut out of a page or batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded, ForeignDocument
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Iterable

NATIVE_KEYS = frozenset({"schema_version", "contexts"})
"""With one of these at its top a message is a native one, whatever else it carries."""

Place = tuple[str | int, ...]


class Piece(NamedTuple):
    """One record's document and the places in the message that it was put together from."""

    document: dict[str, Any]
    places: tuple[Place, ...] = ((),)


def gather_documents(name: str, pieces: Iterable[Piece], *, mended: tuple[str, ...]) -> Decoded:
    """One record a piece, in order; each warns of the texts that were mended in its own places.

    Args:
        name: of the format.
        pieces: in the order of the message.
        mended: paths of the mended texts of the whole message.
    """
    records = [
        ForeignDocument(
            format=name,
            document=piece.document,
            warnings=describe_mending(_select_paths(mended, piece.places)) if mended else (),
        )
        for piece in pieces
    ]
    return Decoded(format=name, records=tuple(records))


def check_count(value: object, *where: str | int, limit: int) -> None:
    """Refuses a list of more than `limit` items; anything else is let through.

    Raises:
        DecodeError: OVER_LIMIT.
    """
    if isinstance(value, list) and len(value) > limit:
        message = f"found a list of {len(value)}, expected at most {limit}"
        raise DecodeError(ParkReason.OVER_LIMIT, message, where=format_path(*where))


def _select_paths(mended: tuple[str, ...], places: tuple[Place, ...]) -> tuple[str, ...]:
    if () in places:
        return mended
    starts = {format_path(*place) for place in places}
    return tuple(path for path in mended if any(_is_below(path, start) for start in starts))


def _is_below(path: str, start: str) -> bool:
    return path.startswith(start) and path[len(start) : len(start) + 1] in {"", ".", "["}
