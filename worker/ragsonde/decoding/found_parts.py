"""Which members of a list, or lines, are parts of traces, and which of them make one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.parts import group_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.decoding.formats import JsonFormat
    from ragsonde.decoding.parts import Part


class FoundPart(NamedTuple):
    """A part, and the format that reads it."""

    row: JsonFormat
    part: Part


def find_part(value: object, rows: Iterable[JsonFormat]) -> FoundPart | None:
    """What a value is a part of; None for one that is a message of its own, or of no format.

    Args:
        value: a member of a list, or what a line holds.
        rows: the formats in the order they are tried.
    """
    for row in rows:
        part = None if row.find_part is None else row.find_part(value)
        if part is not None:
            return FoundPart(row, part)
        if row.recognises(value):
            return None
    return None


def group_members(found: Sequence[FoundPart | None]) -> list[tuple[int, ...]]:
    """Which members make one message: the parts of one trace do, any other member by itself.

    Args:
        found: of each member, as `find_part` tells.

    Returns:
        their indices, each once, by the first of each group.
    """
    groups: list[tuple[int, ...]] = [(number,) for number, part in enumerate(found) if part is None]
    by_format: dict[str, list[int]] = {}
    for number, part in enumerate(found):
        if part is not None:
            by_format.setdefault(part.row.name, []).append(number)
    for numbers in by_format.values():
        parts = [part.part for number in numbers if (part := found[number]) is not None]
        groups += [tuple(numbers[index] for index in group) for group in group_parts(parts)]
    return sorted(groups)
