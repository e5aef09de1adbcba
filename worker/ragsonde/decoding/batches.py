"""Many records in one delivery: a JSON array, or JSON lines; each item is decoded by its own format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragsonde.decoding.array_items import find_items
from ragsonde.decoding.formats import MIXED
from ragsonde.decoding.json_text import BYTE_ORDER_MARK, JsonDocument, read_json
from ragsonde.decoding.span_limits import check_span_count
from ragsonde.extraction.nesting import find_too_deep
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
    batch = _Batch(limits)
    for index, item in enumerate(document.value):
        try:
            batch.add(decode(JsonDocument(item, mended.get(index, ()))), place=f"[{index}]")
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
            batch.add(decode(read_json(line, nesting_levels=limits.nesting_levels)), place=place)
        except DecodeError as error:
            batch.faults.append(_place(error, place))
    return batch.close()


def decode_broken_array(
    body: bytes, decode: _Decode, *, error: DecodeError, limits: DecodingLimits
) -> Decoded:
    """What the good items of a JSON array hold whose text as a whole is refused, the others as faults.

    Args:
        body: the text.
        decode: reads one item.
        error: why the whole is refused; raised where the text cannot be cut into items, or none is good.
        limits: see `decode_items`.
    """
    items = _cut_array(body, nesting_levels=limits.nesting_levels + 1)
    if not items or error.reason is not ParkReason.INVALID_JSON:
        raise error
    _check_count(len(items), limits=limits)
    batch = _Batch(limits)
    for index, item in enumerate(items):
        try:
            batch.add(decode(read_json(item, nesting_levels=limits.nesting_levels)), place=f"[{index}]")
        except DecodeError as refusal:
            batch.faults.append(_place(refusal, f"[{index}]"))
    if batch.is_empty:
        raise error
    return batch.close()


def _cut_array(body: bytes, *, nesting_levels: int) -> list[bytes]:
    """The texts of the items of a JSON array; empty where it is none."""
    if body.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"[":
        return []
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    if find_too_deep(text, limit=nesting_levels) is not None:
        return []
    return [text[begin:end].encode() for begin, end in find_items(text) or ()]


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


def _place(error: DecodeError, place: str) -> DecodeError:
    message = str(error).removeprefix(f"{error.where}: ")
    where = place.removesuffix(": ") if error.where in _WHOLE else _join(place, error.where)
    placed = DecodeError(error.reason, message, where=where)
    placed.__cause__ = error.__cause__
    return placed


def _join(place: str, path: str) -> str:
    return f"{place}{path}" if place.endswith(" ") or path.startswith("[") else f"{place}.{path}"
