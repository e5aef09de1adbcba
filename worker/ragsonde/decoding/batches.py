"""Many records in one delivery: a JSON array, or JSON lines.

Each member is decoded by its own format; those that are parts of traces (a LangSmith run, a Langfuse
observation) are read together, as one list.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.damaged_json import read_damaged_json
from ragsonde.decoding.formats import MIXED
from ragsonde.decoding.found_parts import find_part
from ragsonde.decoding.json_text import Damage, JsonDocument
from ragsonde.decoding.span_limits import check_span_count
from ragsonde.decoding.wording import move_error
from ragsonde_schemas.decoded import Decoded, ForeignDocument
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.decoding.formats import JsonFormat
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Record
    from ragsonde_schemas.span import Span

_INDEXED = re.compile(r"\[(\d+)\]\.?(.*)", re.DOTALL)
_WHOLE = frozenset({"", "body", "message"})
_WARNINGS_AT_MOST = 20


class Reading(NamedTuple):
    """How the members of a delivery are read.

    Attributes:
        rows: the formats in the order they are tried.
        decode: reads one value that is a message.
        limits: `records` caps the members that are no parts, `spans` the spans of all of them.
    """

    rows: Sequence[JsonFormat]
    decode: Callable[[JsonDocument], Decoded]
    limits: DecodingLimits

    def read(self, document: JsonDocument) -> Decoded:
        """What a value holds: a message, or a list of them.

        Raises:
            DecodeError: as `decode_items` does, or as the value's format does.
        """
        value = document.value
        if isinstance(value, list) and value and not any(row.recognises(value) for row in self.rows):
            return decode_items(document, self)
        return self.decode(document)


class _Member(NamedTuple):
    """An item or line: where it stands, and what it holds, or why it holds nothing."""

    place: str
    content: JsonDocument | DecodeError


def decode_items(document: JsonDocument, reading: Reading) -> Decoded:
    """What the items of a JSON array hold, in order; those that cannot be read are faults.

    Args:
        document: its value is a list that is not empty.
        reading: how each is read.

    Raises:
        DecodeError: OVER_LIMIT, or the first item's where no item can be read; `where` names the item.
    """
    mended = _group_mended(document.mended)
    damage = _group_damage(document.damage)
    members = []
    for index, item in enumerate(document.value):
        own = damage.get(index, ())
        inner = JsonDocument(item, mended.get(index, ()), own, own[0].to_error() if own else None)
        members.append(_Member(f"[{index}]", inner))
    return _decode_members(members, reading)


def decode_lines(body: bytes, reading: Reading) -> Decoded:
    """What JSON lines hold, in order; lines that cannot be read are faults, blank ones nothing.

    A line is a message, or an array of them.

    Raises:
        DecodeError: OVER_LIMIT, or the first line's where no line can be read; `where` names the line.
    """
    members = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            content: JsonDocument | DecodeError
            try:
                content = read_damaged_json(line, nesting_levels=reading.limits.nesting_levels)
            except DecodeError as error:
                content = error
            members.append(_Member(f"line {number}: ", content))
    return _decode_members(members, reading._replace(decode=reading.read))


def _decode_members(members: Sequence[_Member], reading: Reading) -> Decoded:
    found = [
        None if isinstance(member.content, DecodeError) else find_part(member.content.value, reading.rows)
        for member in members
    ]
    _check_count(sum(part is None for part in found), limits=reading.limits)
    batch = _Batch(reading.limits)
    gathered: set[str] = set()
    for member, part in zip(members, found, strict=True):
        if part is None:
            batch.read(member, reading)
        elif part.row.name not in gathered:
            gathered.add(part.row.name)
            own = [other is not None and other.row is part.row for other in found]
            batch.read_parts(members, own, part.row)
    return batch.close()


class _Batch:
    """What the items held so far."""

    def __init__(self, limits: DecodingLimits) -> None:
        self.faults: list[DecodeError] = []
        self._limits = limits
        self._formats: dict[str, None] = {}
        self._records: list[Record] = []
        self._spans: list[Span] = []
        self._warnings: list[str] = []

    @property
    def is_empty(self) -> bool:
        """True while no item could be read."""
        return not self._formats

    def read(self, member: _Member, reading: Reading) -> None:
        """Reads a member that is a message of its own."""
        try:
            if isinstance(member.content, DecodeError):
                raise member.content
            decoded = reading.decode(member.content)
        except DecodeError as error:
            self.faults.append(_place(error, member.place))
        else:
            self._add(
                replace(
                    decoded,
                    faults=tuple(_place(error, member.place) for error in decoded.faults),
                    warnings=tuple(_join(member.place, warning) for warning in decoded.warnings),
                )
            )

    def read_parts(self, members: Sequence[_Member], own: Sequence[bool], row: JsonFormat) -> None:
        """Reads the members that are parts of a format's, as a list with nothing in the others' places."""
        places = [member.place for member in members]
        document = _gather(members, own)
        try:
            if document.refusal is not None and not row.reads_damaged:
                raise document.refusal
            decoded = row.decode(document, self._limits)
        except DecodeError as error:
            self.faults.append(_move(error, places))
        else:
            self._add(
                replace(
                    decoded,
                    records=tuple(_move_warnings(record, places) for record in decoded.records),
                    faults=tuple(_move(error, places) for error in decoded.faults),
                    warnings=tuple(_move_path(warning, places) for warning in decoded.warnings),
                )
            )

    def _add(self, decoded: Decoded) -> None:
        self._formats[decoded.format] = None
        self._records += decoded.records
        self._spans += decoded.spans
        self.faults += decoded.faults
        self._warnings += decoded.warnings

    def close(self) -> Decoded:
        check_span_count(len(self._spans), limits=self._limits)
        if self.is_empty:
            raise self.faults[0]
        more = len(self._warnings) - _WARNINGS_AT_MOST
        if more > 0:
            self._warnings[_WARNINGS_AT_MOST:] = [f"message: {more} more warnings"]
        return Decoded(
            format=next(iter(self._formats)) if len(self._formats) == 1 else MIXED,
            records=tuple(self._records),
            spans=tuple(self._spans),
            faults=tuple(self.faults),
            warnings=tuple(self._warnings),
        )


def _check_count(count: int, *, limits: DecodingLimits) -> None:
    if count > limits.records:
        message = f"found {count} records, expected at most {limits.records} in one message"
        raise DecodeError(ParkReason.OVER_LIMIT, f"{message}; publish smaller batches")


def _gather(members: Sequence[_Member], own: Sequence[bool]) -> JsonDocument:
    """A list of the members that are `own`, null in place of each other one."""
    values: list[object] = []
    mended: list[str] = []
    damage: list[Damage] = []
    for index, (member, is_own) in enumerate(zip(members, own, strict=True)):
        document = (
            member.content if is_own and isinstance(member.content, JsonDocument) else JsonDocument(None)
        )
        values.append(document.value)
        mended += (_join(f"[{index}]", path) for path in document.mended)
        damage += (part._replace(place=(index, *part.place)) for part in document.damage)
    return JsonDocument(values, tuple(mended), tuple(damage), damage[0].to_error() if damage else None)


def _group_mended(paths: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    """The paths of mended texts by the item they are in, as seen from it."""
    groups: dict[int, list[str]] = {}
    for path in paths:
        match = _INDEXED.match(path)
        if match:
            groups.setdefault(int(match[1]), []).append(match[2] or "message")
    return {index: tuple(inner) for index, inner in groups.items()}


def _group_damage(damage: tuple[Damage, ...]) -> dict[int, tuple[Damage, ...]]:
    """The parts that cannot be kept by the item they are in, as seen from it."""
    groups: dict[int, list[Damage]] = {}
    for part in damage:
        index, *inner = part.place
        groups.setdefault(int(index), []).append(part._replace(place=tuple(inner)))
    return {index: tuple(inner) for index, inner in groups.items()}


def _place(error: DecodeError, place: str) -> DecodeError:
    where = place.removesuffix(": ") if error.where in _WHOLE else _join(place, error.where)
    return move_error(error, where=where)


def _join(place: str, path: str) -> str:
    return f"{place}{path}" if place.endswith(" ") or path.startswith("[") else f"{place}.{path}"


def _move(error: DecodeError, places: Sequence[str]) -> DecodeError:
    return move_error(error, where=_move_path(error.where, places))


def _move_warnings(record: Record, places: Sequence[str]) -> Record:
    if not isinstance(record, ForeignDocument) or not record.warnings:
        return record
    return replace(record, warnings=tuple(_move_path(warning, places) for warning in record.warnings))


def _move_path(path: str, places: Sequence[str]) -> str:
    """A path that begins with a member's index, as a path that begins with the member's place."""
    match = _INDEXED.match(path)
    if match is None:
        return path
    place, rest = places[int(match[1])], match[2]
    return _join(place, rest) if rest and not rest.startswith(":") else place.removesuffix(": ") + rest
