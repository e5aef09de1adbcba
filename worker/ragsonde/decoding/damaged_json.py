"""JSON of which parts cannot be kept: the rest is read, and each such part is known by its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.json_text import (
    REPEATED_KEY,
    Damage,
    JsonDocument,
    describe_number,
    find_repeated,
    read_json,
)
from ragsonde.extraction.nesting import cut_too_deep
from ragsonde.extraction.strict_json import parse_json
from ragsonde.extraction.texts import mend_value
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.decoding.json_text import Place

_TOO_DEEP = "-1e64064"
"""Stands for what is nested too deep while the text is parsed: a number that no double can hold."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands in a JSON value for a part that cannot be kept.

    Attributes:
        found: what is wrong with it.
        key: of the object that stood there, the one that is wrong.
    """

    found: str
    key: str | None = None


def read_damaged_json(body: bytes, *, nesting_levels: int) -> JsonDocument:
    """What `read_json` reads; where that refuses a part for what it is, `Unreadable` stands for the part.

    Parts are numbers that no double can hold, objects with a key twice, and what is nested too deep. The
    document then says where they are, and with which error `read_json` refuses the whole.

    Raises:
        DecodeError: as `read_json` does, where the text is no JSON, or all of it is such a part.
    """
    try:
        return read_json(body, nesting_levels=nesting_levels)
    except DecodeError as error:
        value = _parse(body, nesting_levels) if error.reason is ParkReason.INVALID_JSON else None
        if not isinstance(value, dict | list):
            raise
        damage = tuple(find_damage(value))
        mended, paths = mend_value(value)
        return JsonDocument(mended, paths, damage, error)


def find_damage(value: object, place: Place = ()) -> Iterator[Damage]:
    """The parts of a JSON value that cannot be kept, in order.

    Args:
        value: read by `read_damaged_json`.
        place: of the value itself.
    """
    if isinstance(value, Unreadable):
        yield Damage(place if value.key is None else (*place, value.key), value.found)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_damage(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_damage(item, (*place, index))


def _parse(body: bytes, nesting_levels: int) -> object:
    """The value with its unreadable parts marked; None where the text is no JSON."""
    text = cut_too_deep(body.decode("utf-8-sig"), limit=nesting_levels, mark=_TOO_DEEP)
    if text is None:
        return None

    def mark_number(number: str) -> Any:  # noqa: ANN401 in place of a number
        if number == _TOO_DEEP:
            return Unreadable(f"nested deeper than {nesting_levels} levels")
        return Unreadable(describe_number(number))

    try:
        return parse_json(text, read_object=_read_object, refuse=mark_number)
    except ValueError:
        return None


def _read_object(pairs: list[tuple[str, Any]]) -> Any:  # noqa: ANN401 an object, or what stands for one
    value = dict(pairs)
    return value if len(value) == len(pairs) else Unreadable(REPEATED_KEY, find_repeated(pairs))
