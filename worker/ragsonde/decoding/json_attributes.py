"""Attributes in OTLP JSON: `KeyValue` and `AnyValue` of common/v1/common.proto, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.damaged_json import find_damage
from ragsonde.decoding.json_fields import read_integer, read_list, read_object
from ragsonde.decoding.span_limits import move_warnings
from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import Place

_KINDS = {
    kind: camel
    for camel in (
        "stringValue",
        "boolValue",
        "intValue",
        "doubleValue",
        "arrayValue",
        "kvlistValue",
        "bytesValue",
    )
    for kind in (camel, camel.removesuffix("Value") + "_value")
}
_ONEOF = "value"
"""Where protobufjs writes down which kind a value is of."""


class JsonAttributeReader:
    """Reads attributes out of one document; one that cannot be read is skipped.

    Args:
        is_damaged: values may be, or hold, parts that cannot be kept.

    Attributes:
        warnings: what was skipped by `read_pairs` since the last `take`.
    """

    def __init__(self, *, is_damaged: bool = False) -> None:
        self.warnings: list[str] = []
        self._is_damaged = is_damaged

    def take(self, fields: dict[str, Any], place: Place) -> dict[str, Any]:
        """The `attributes` of a span, event or resource; absent is empty.

        Where some were skipped, one more attribute says so: see `move_warnings`.

        Raises:
            DecodeError: they are neither a list nor an object.
        """
        attributes = self.read_pairs(fields.get("attributes"), (*place, "attributes"))
        move_warnings(self.warnings, to=attributes)
        return attributes

    def read_pairs(self, pairs: object, place: Place) -> dict[str, Any]:
        """A list of key and value, or a plain object; of equal keys the last one holds."""
        attributes: dict[str, Any] = {}
        if isinstance(pairs, dict):
            for key, value in pairs.items():
                self._read_into(attributes, key, value, (*place, key))
            return attributes
        for index, pair in enumerate(() if pairs is None else read_list(pairs, place)):
            key = pair.get("key") if isinstance(pair, dict) else None
            if isinstance(key, str):
                self._read_into(attributes, key, pair.get("value"), (*place, index, "value"))
            else:
                found = describe_value(pair)
                self._warn(
                    f"{format_path(*place, index)}: found {found}, expected an object with a string `key`"
                )
        return attributes

    def _read_into(self, attributes: dict[str, Any], key: str, value: object, place: Place) -> None:
        try:
            if self._is_damaged:
                for damage in find_damage(value, place):
                    raise damage.to_error()
            attributes[key] = self._read_value(value, place)
        except DecodeError as error:
            self._warn(str(error))

    def _read_value(self, value: object, place: Place) -> object:
        """The plain value of an AnyValue; what is none is taken as it is."""
        if not isinstance(value, dict):
            return value
        kind = _find_kind(value)
        if kind is None:
            return value if any(key not in _KINDS for key in value) else None
        inner = value[kind]
        match _KINDS[kind]:
            case "intValue":
                return read_integer(inner, (*place, kind))
            case "arrayValue":
                return self._read_array(inner, (*place, kind))
            case "kvlistValue":
                pairs = inner["values"] if isinstance(inner, dict) and "values" in inner else inner
                return self.read_pairs(pairs, (*place, kind, "values"))
        return inner

    def _read_array(self, inner: object, place: Place) -> list[object]:
        items = inner if isinstance(inner, list) else read_object(inner, place).get("values") or []
        items_place = (*place, "values")
        return [
            self._read_value(item, (*items_place, index))
            for index, item in enumerate(read_list(items, items_place))
        ]

    def _warn(self, found: str) -> None:
        self.warnings.append(f"{found}; skipped")


def _find_kind(value: dict[str, Any]) -> str | None:
    """The key of an AnyValue's value; None where it holds none, or is an object of another kind.

    Serialisers that write all members leave null in the others.
    """
    kinds = [key for key in value if key in _KINDS and value[key] is not None]
    is_alone = len(kinds) == 1 and all(key in _KINDS or key == _ONEOF for key in value)
    return kinds[0] if is_alone else None
