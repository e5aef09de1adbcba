"""Attributes in OTLP protobuf: `KeyValue` and `AnyValue` of common/v1/common.proto, as plain values."""

from __future__ import annotations

import base64
import math
import struct
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.protobuf_wire import read_fields, to_signed
from ragsonde.decoding.span_limits import move_warnings
from ragsonde.decoding.wording import cut_place
from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import mend_text
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.decoding.protobuf_wire import WireField

_KEY, _VALUE = 0x0A, 0x12
_STRING, _BOOL, _INT, _DOUBLE, _ARRAY, _MAP, _BYTES = 0x0A, 0x10, 0x18, 0x21, 0x2A, 0x32, 0x3A
_ITEMS = 0x0A
_unpack_double = struct.Struct("<d").unpack_from


class AttributeReader:
    """Reads attributes out of one export's bytes; one that cannot be read is skipped.

    Attributes:
        place: where it reads now, for errors and warnings.
        warnings: what was mended and skipped since the last `read_all`.
    """

    def __init__(self, body: bytes, limits: DecodingLimits) -> None:
        self.place = "resource"
        self.warnings: list[str] = []
        self._body = body
        self._limits = limits
        self._readers: dict[int, Callable[[int, int, int], Any]] = {
            _STRING: lambda start, end, _: self.read_text(start, end),
            _BOOL: lambda value, _, __: bool(value),
            _INT: lambda value, _, __: to_signed(value),
            _DOUBLE: self._read_double,
            _ARRAY: self._read_array,
            _MAP: self._read_map,
            _BYTES: lambda start, end, _: base64.b64encode(body[start:end]).decode("ascii"),
        }

    def read_all(self, fields: list[WireField], *, key: int) -> dict[str, Any]:
        """The attributes among a message's fields, those with `key`; of equal names the last one holds.

        Where some were mended or skipped, one more attribute says so: see `move_warnings`.
        """
        attributes: dict[str, Any] = {}
        for field_key, start, end in fields:
            if field_key == key:
                try:
                    self._read_pair(start, end, 0, attributes)
                except DecodeError as error:
                    self._skip("an attribute", error)
        move_warnings(self.warnings, to=attributes)
        return attributes

    def read_text(self, start: int, end: int) -> str:
        """A string; bytes that are no UTF-8 and NUL become U+FFFD, with a warning."""
        raw = self._body[start:end]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("utf-8", errors="replace")
            self._warn("bytes that are no UTF-8")
        if "\0" in text:
            text = mend_text(text)
            self._warn("NUL")
        return text

    def _read_pair(self, start: int, end: int, level: int, attributes: dict[str, Any]) -> None:
        name, value = "", None
        for key, at, stop in read_fields(self._body, start, end):
            if key == _KEY:
                name = self.read_text(at, stop)
            elif key == _VALUE:
                try:
                    value = self._read_value(at, stop, level)
                except DecodeError as error:
                    if level > 0:
                        raise
                    self._skip(f"attribute {format_path(name)}", error)
                    return
        attributes[name] = value

    def _read_value(self, start: int, end: int, level: int) -> Any:  # noqa: ANN401 an attribute may be anything
        """The plain value of an AnyValue: bytes as base64, numbers that are not finite as text."""
        if level > self._limits.nesting_levels:
            raise DecodeError(
                ParkReason.OVER_LIMIT, f"nested deeper than {self._limits.nesting_levels} levels"
            )
        value = None
        for key, at, stop in read_fields(self._body, start, end):
            read = self._readers.get(key)
            if read is not None:
                value = read(at, stop, level)
        return value

    def _read_double(self, start: int, _end: int, _level: int) -> float | str:
        number: float = _unpack_double(self._body, start)[0]
        return number if math.isfinite(number) else str(number)

    def _read_array(self, start: int, end: int, level: int) -> list[Any]:
        return [
            self._read_value(at, stop, level + 1)
            for key, at, stop in read_fields(self._body, start, end)
            if key == _ITEMS
        ]

    def _read_map(self, start: int, end: int, level: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        for key, at, stop in read_fields(self._body, start, end):
            if key == _ITEMS:
                self._read_pair(at, stop, level + 1, items)
        return items

    def _skip(self, what: str, error: DecodeError) -> None:
        self.warnings.append(f"{self.place}: {what}: {cut_place(error)}; skipped")

    def _warn(self, found: str) -> None:
        self.warnings.append(f"{self.place}: {found} replaced by U+FFFD")
