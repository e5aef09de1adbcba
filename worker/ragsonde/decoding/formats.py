"""The formats that deliveries are read in, as values: ours, and those that others add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import ConfigError, DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.decoding.parts import Part

MIXED = "mixed"
"""The format of a delivery whose records are of several formats."""

_Input = TypeVar("_Input")


class JsonFormat(NamedTuple):
    """A message in JSON.

    Attributes:
        content_types: those that mean this format and no other, in lower case.
        recognises: True for a value of this format.
        reads_damaged: its decoder leaves out, and tells of, what of a document cannot be kept; other formats
            are handed no such document.
        find_part: what a value says of the trace it is a part of, None for a value that is no part. With it,
            `decode` also reads a list: of the parts in it, what else is in it is not looked at.
    """

    name: str
    content_types: frozenset[str]
    recognises: Callable[[Any], bool]
    decode: Callable[[JsonDocument, DecodingLimits], Decoded]
    reads_damaged: bool = False
    find_part: Callable[[Any], Part | None] | None = None


class BinaryFormat(NamedTuple):
    """A message in bytes; `recognises` sees the body, of at least one byte."""

    name: str
    content_types: frozenset[str]
    recognises: Callable[[bytes], bool]
    decode: Callable[[bytes, DecodingLimits], Decoded]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """Formats in the order they are tried: the first that recognises a message decodes it."""

    json: tuple[JsonFormat, ...] = ()
    binary: tuple[BinaryFormat, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every format, and that of deliveries of several formats."""
        return (*(row.name for row in self.json), *(row.name for row in self.binary), MIXED)

    def find(self, content_type: str) -> JsonFormat | BinaryFormat | None:
        """The format that a content type names, if it names one."""
        rows: tuple[JsonFormat | BinaryFormat, ...] = (*self.binary, *self.json)
        return next((row for row in rows if content_type in row.content_types), None)

    def extended(self, others: Iterable[JsonFormat | BinaryFormat]) -> Formats:
        """These formats, with `others` tried before them, in their order.

        What others' code raises is contained: their recogniser then does not recognise, their decoder refuses
        the message with INTERNAL_ERROR.

        Raises:
            ConfigError: two of them have one name or content type; each problem names both.
        """
        problems: list[str] = []
        owners: dict[str, JsonFormat | BinaryFormat] = {}
        added = tuple(others)
        for row in (*self.json, *self.binary, *added):
            for claim in (f"format {row.name}", *(f"content type {name}" for name in row.content_types)):
                owner = owners.setdefault(claim, row)
                if owner is not row:
                    problems.append(f"{claim}: found twice, by {_describe(owner)} and by {_describe(row)}")
        if any(row.name == MIXED for row in added):
            problems.append(f"format {MIXED}: the name is taken by deliveries of several formats")
        if problems:
            raise ConfigError(*(f"{problem}; rename or uninstall one of them" for problem in problems))
        return replace(
            self,
            json=(*(_contain_json(row) for row in added if isinstance(row, JsonFormat)), *self.json),
            binary=(*(_contain_binary(row) for row in added if isinstance(row, BinaryFormat)), *self.binary),
        )


def _describe(row: JsonFormat | BinaryFormat) -> str:
    decode: Any = row.decode
    return f"{getattr(decode, '__module__', '?')}.{getattr(decode, '__qualname__', type(decode).__name__)}"


def _contain_json(row: JsonFormat) -> JsonFormat:
    return row._replace(
        recognises=_contain_recogniser(row.recognises),
        decode=_contain_decoder(row.name, row.decode),
        find_part=None if row.find_part is None else _contain_finder(row.find_part),
    )


def _contain_binary(row: BinaryFormat) -> BinaryFormat:
    return row._replace(
        recognises=_contain_recogniser(row.recognises), decode=_contain_decoder(row.name, row.decode)
    )


def _contain_recogniser(recognises: Callable[[_Input], bool]) -> Callable[[_Input], bool]:
    @wraps(recognises)
    def contained(value: _Input) -> bool:
        try:
            return bool(recognises(value))
        except Exception:  # noqa: BLE001 others' code may raise anything
            return False

    return contained


def _contain_finder(find_part: Callable[[Any], Part | None]) -> Callable[[Any], Part | None]:
    @wraps(find_part)
    def contained(value: object) -> Part | None:
        try:
            return find_part(value)
        except Exception:  # noqa: BLE001 others' code may raise anything
            return None

    return contained


def _contain_decoder(
    name: str, decode: Callable[[_Input, DecodingLimits], Decoded]
) -> Callable[[_Input, DecodingLimits], Decoded]:
    @wraps(decode)
    def contained(value: _Input, limits: DecodingLimits) -> Decoded:
        try:
            decoded: object = decode(value, limits)
        except DecodeError:
            raise
        except Exception as error:
            message = f"the decoder of format {name} raised {type(error).__name__}, expected it to decode"
            raise DecodeError(ParkReason.INTERNAL_ERROR, f"{message}; tell its authors") from error
        if not isinstance(decoded, Decoded):
            message = f"the decoder of format {name} returned a {type(decoded).__name__}, expected Decoded"
            raise DecodeError(ParkReason.INTERNAL_ERROR, f"{message}; tell its authors")
        return decoded

    return contained
