"""Many records in one delivery: a JSON array, or JSON lines; each item is decoded by its own format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragsonde.decoding.damaged_json import read_damaged_json
from ragsonde.decoding.formats import MIXED
from ragsonde.decoding.json_text import Damage, JsonDocument
from ragsonde.decoding.span_limits import check_span_count
from ragsonde.decoding.wording import move_error
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Record
    from ragsonde_schemas.span import Span

    _Decode = Callable[[JsonDocument], Decoded]

_INDEXED = re.compile(r"\[(\d+)\]\.?(.*)", re.DOTALL)
_WHOLE = frozenset({"", "body", "message"})
_WARNINGS_AT_MOST = 20


def decode_items(document: JsonDocument, decode: _Decode, *, limits: DecodingLimits) -> Decoded:
    """What the items of a JSON array hold, in order; those that cannot be read are faults.

    Args:
        document: its value is a list that is not empty.
        decode: reads one item.
        limits: `records` caps the items, `spans` the spans of all of them.

    Raises:
        DecodeError: OVER_LIMIT, or the first item's where no item can be read; `where` names the item.
    """
    _check_count(len(document.value), limits=limits)
    mended = _group_mended(document.mended)
    damage = _group_damage(document.damage)
    batch = _Batch(limits)
    for index, item in enumerate(document.value):
        own = damage.get(index, ())
        inner = JsonDocument(item, mended.get(index, ()), own, own[0].to_error() if own else None)
        try:
            batch.add(decode(inner), place=f"[{index}]")
        except DecodeError as error:
            batch.faults.append(_place(error, f"[{index}]"))
    return batch.close()


def decode_lines(body: bytes, decode: _Decode, *, limits: DecodingLimits) -> Decoded:
    """What JSON lines hold, in order; lines that cannot be read are faults, blank ones nothing.

    Raises:
        DecodeError: OVER_LIMIT, or the first line's where no line can be read; `where` names the line.
    """
    lines = [(number, line) for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()]
    _check_count(len(lines), limits=limits)
    batch = _Batch(limits)
    for number, line in lines:
        place = f"line {number}: "
        try:
            document = read_damaged_json(line, nesting_levels=limits.nesting_levels)
            batch.add(decode(document), place=place)
        except DecodeError as error:
            batch.faults.append(_place(error, place))
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

    def add(self, decoded: Decoded, *, place: str) -> None:
        self._formats[decoded.format] = None
        self._records += decoded.records
        self._spans += decoded.spans
        self.faults += (_place(error, place) for error in decoded.faults)
        self._warnings += (_join(place, warning) for warning in decoded.warnings)

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
