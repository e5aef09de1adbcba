"""Options of scorers: their names, defaults, and how a configured value is read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar, cast

from ragsonde_schemas.errors import ConfigError

Options = Mapping[str, object]
"""What an instance sets, by option name; what is not in it has its default."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=StrEnum)


class Reader(Protocol[T_co]):
    """Reads a configured value."""

    def __call__(self, value: object, *, place: str) -> T_co:
        """The value in its type.

        Raises:
            ConfigError: each problem names `place`, what was found and what was expected.
        """
        ...


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option of a scorer.

    Attributes:
        default: what holds where the option is not set.
        changes_raw: it is part of the scorer's version.
        meaning: one line for the reference.
    """

    name: str
    default: T
    read: Reader[T]
    meaning: str
    changes_raw: bool = True

    def of(self, options: Options) -> T:
        """The value in force."""
        return cast("T", options.get(self.name, self.default))

    def changes(self, options: Options) -> dict[str, object]:
        """What differs from the default, by dotted name; empty where nothing does."""
        defaults = _flatten(self.name, value=self.default)
        return {
            name: value
            for name, value in _flatten(self.name, value=self.of(options)).items()
            if value != defaults[name]
        }


def _flatten(name: str, *, value: object) -> dict[str, object]:
    if is_dataclass(value):
        return {f"{name}.{field.name}": getattr(value, field.name) for field in fields(value)}
    return {name: value}


def number_reader(is_valid: Callable[[float], bool], *, expected: str) -> Reader[float]:
    """A reader of finite numbers that fulfil `is_valid`; `expected` says in words what that is."""

    def read(value: object, *, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{place}: found {describe(value)}, expected {expected}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or not is_valid(number):
            raise ConfigError(f"{place}: found {describe(value)}, expected {expected}")
        return number

    return read


def choice_reader(choices: type[E]) -> Reader[E]:
    """A reader of one word out of an enum."""

    def read(value: object, *, place: str) -> E:
        words = [choice.value for choice in choices]
        if isinstance(value, str) and value in words:
            return choices(value)
        nearest = suggest(value, valid=words) if isinstance(value, str) else ""
        raise ConfigError(f"{place}: found {describe(value)}, expected one of {', '.join(words)}{nearest}")

    return read


def suggest(name: str, *, valid: Iterable[str]) -> str:
    """`; did you mean x?` for the nearest valid name, '' where none is near."""
    by_folded = {word.casefold(): word for word in valid}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return f"; did you mean {by_folded[near[0]]}?" if near else ""


_LONGEST_QUOTE = 40
_LARGEST_PRINTED_INT = 10**15


def describe(value: object) -> str:
    """A value that was found where another was expected, in a few printable words."""
    if isinstance(value, str):
        shown = value if len(value) <= _LONGEST_QUOTE else value[: _LONGEST_QUOTE - 3] + "..."
        return repr(shown)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        is_printable = isinstance(value, float) or abs(value) <= _LARGEST_PRINTED_INT
        return f"the number {value}" if is_printable else "a very large number"
    if isinstance(value, Mapping | list | tuple):
        return "an object" if isinstance(value, Mapping) else "a list"
    return "nothing" if value is None else f"a {type(value).__name__}"


def _read_empty_context_score(value: object, *, place: str) -> float | None:
    if isinstance(value, str) and value.strip().casefold() == "none":
        return None
    return _read_share(value, place=place)


_read_share = number_reader(lambda number: 0 <= number <= 1, expected="a number from 0 to 1")

SCALE: Option[float] = Option(
    "scale",
    default=1.0,
    read=number_reader(lambda number: number > 0, expected="a finite number above 0"),
    meaning="value = raw times scale",
    changes_raw=False,
)
THRESHOLD: Option[float | None] = Option(
    "threshold",
    default=None,
    read=_read_share,
    meaning="passed = raw >= threshold",
    changes_raw=False,
)
EMPTY_CONTEXT_SCORE: Option[float | None] = Option(
    "empty_context_score",
    default=None,
    read=_read_empty_context_score,
    meaning="raw score of a trace without contexts, instead of skipping it",
)
SHARED_OPTIONS: tuple[Option[float] | Option[float | None], ...] = (SCALE, THRESHOLD, EMPTY_CONTEXT_SCORE)
