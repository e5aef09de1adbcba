"""Fields of JSON objects as exporters write them: camelCase or snake_case, long numbers in any form."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ragsonde.decoding.protobuf_wire import to_signed
from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragsonde.decoding.json_text import Place

_Read = TypeVar("_Read")
_INTEGER = re.compile(r"[-+]?\d{1,20}", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d{1,40}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,3})?", re.ASCII)
_CAPITAL = re.compile(r"(?=[A-Z])")
_WORD = 0xFFFFFFFF
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def find_key(fields: dict[str, Any], name: str) -> str:
    """`name`, or its snake_case form where only that one is among `fields`."""
    if name in fields:
        return name
    snake = _to_snake(name)
    return snake if snake in fields else name


def take_objects(fields: dict[str, Any], name: str, place: Place) -> list[tuple[Place, Any]]:
    """The items of the list under `name`, each with its place; absent is empty."""
    key = find_key(fields, name)
    value = fields.get(key)
    if value is None:
        return []
    items = read_list(value, (*place, key))
    return [((*place, key, index), item) for index, item in enumerate(items)]


def read_each(
    objects: Iterable[tuple[Place, object]], read: Callable[[object, Place], _Read]
) -> tuple[list[_Read], list[DecodeError]]:
    """What `read` makes of each object, and why it refuses the others, both in order."""
    good: list[_Read] = []
    faults: list[DecodeError] = []
    for place, value in objects:
        try:
            good.append(read(value, place))
        except DecodeError as error:
            faults.append(error)
    return good, faults


def take_object(fields: dict[str, Any], name: str, place: Place) -> dict[str, Any]:
    """The object under `name`; absent is empty."""
    key = find_key(fields, name)
    value = fields.get(key)
    return {} if value is None else read_object(value, (*place, key))


def take_text(fields: dict[str, Any], name: str, place: Place) -> str:
    """The string under `name`; absent is ''."""
    key = find_key(fields, name)
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise describe_wrong(value, (*place, key), "a string")
    return value


def take_time(fields: dict[str, Any], name: str, place: Place) -> int:
    """The nanoseconds under `name`, held to what 64 bits can count; absent is 0."""
    key = find_key(fields, name)
    return min(max(read_integer(fields.get(key), (*place, key)), _LOWEST), _HIGHEST)


def read_list(value: object, place: Place) -> list[Any]:
    """A list, also one written as an object with indices for keys, as JavaScript does with typed arrays."""
    if isinstance(value, dict) and all(key.isdecimal() for key in value):
        return list(value.values())
    if not isinstance(value, list):
        raise describe_wrong(value, place, "a list")
    return value


def read_object(value: object, place: Place) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise describe_wrong(value, place, "an object")
    return value


def read_integer(value: object, place: Place) -> int:
    """An integer written as a string, a number or JavaScript's `{low, high, unsigned}`; null is 0."""
    match value:
        case None:
            return 0
        case int() if not isinstance(value, bool):
            return value
        case float() if math.isfinite(value):
            return int(value)
        case str() if _INTEGER.fullmatch(value):
            return int(value)
        case str() if _NUMBER.fullmatch(value) and math.isfinite(float(value)):
            return int(float(value))
        case {"low": int(low), "high": int(high), **others}:
            unsigned = (high & _WORD) << 32 | low & _WORD
            return unsigned if others.get("unsigned") is True else to_signed(unsigned)
    raise describe_wrong(value, place, "an integer, as a string of digits")


def describe_wrong(value: object, place: Place, expected: str) -> DecodeError:
    """The error that says what was found at `place`, and what was expected."""
    message = f"found {describe_value(value)}, expected {expected}"
    return DecodeError(ParkReason.INVALID_MESSAGE, message, where=format_path(*place))


@cache
def _to_snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()
