"""Cuts an array, or lines, into messages: one for each member, and one for all the parts of a trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.array_items import find_items
from ragsonde.decoding.found_parts import find_part, group_members
from ragsonde.decoding.table import DEFAULT_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.decoding.formats import Formats
    from ragsonde.decoding.found_parts import FoundPart


class Cut(NamedTuple):
    """A message to be.

    Attributes:
        members: which members it is made of, counted from 0; several are the parts of one trace.
        start: where the first of them begins: a character of the array's text, 0 in lines.
        body: that member as it stood, or an array or lines of all of them.
    """

    members: tuple[int, ...]
    start: int
    body: bytes


def cut_array(text: str, *, formats: Formats = DEFAULT_FORMATS) -> list[Cut] | None:
    """The messages in a JSON array; None where it is one message as a whole, or no array.

    None of them has been decoded: each may turn out to be no message.

    Args:
        text: without a byte order mark.
        formats: that the messages are read in.
    """
    items = find_items(text)
    if items is None:
        return None
    values = [item.value for item in items]
    if any(row.recognises(values) for row in formats.json):
        return None
    found = [find_part(value, formats.json) for value in values]
    cuts = []
    for members in group_members(found):
        texts = [text[items[member].begin : items[member].end] for member in members]
        body = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        cuts.append(Cut(members, items[members[0]].begin, body.encode()))
    return cuts


def cut_lines(lines: Sequence[bytes], *, formats: Formats = DEFAULT_FORMATS) -> list[Cut]:
    """The messages in JSON lines; a line that is no JSON is one too, for its decoder to blame.

    Args:
        lines: those that are not blank.
        formats: that the messages are read in.
    """
    found = [_find_in_line(line, formats) for line in lines]
    return [
        Cut(members, 0, b"\n".join(lines[member] for member in members)) for members in group_members(found)
    ]


def _find_in_line(line: bytes, formats: Formats) -> FoundPart | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return find_part(value, formats.json)
