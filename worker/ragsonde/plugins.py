"""What installed packages add, found by their entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.formats import BinaryFormat, Formats, JsonFormat
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde.judging.options import JudgeKind
from ragsonde.scoring.formula import Formula
from ragsonde.scoring.table import FORMULAS
from ragsonde.sinks.options import OWN_KINDS
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragsonde.judging.table import JudgeFactory
    from ragsonde.sinks.delivery import DestinationFactory

FORMATS = "ragsonde.formats"
SCORERS = "ragsonde.scorers"
JUDGES = "ragsonde.judges"
SCORE_SINKS = "ragsonde.score_sinks"


@cache
def load_formats() -> Formats:
    """Our formats and those of installed packages: entry points `ragsonde.formats`, each a format's object.

    Raises:
        ConfigError: one cannot be loaded, is no format, or has the name of another.
    """
    added: list[JsonFormat | BinaryFormat] = []
    for place, loaded in _load(FORMATS):
        if not isinstance(loaded, JsonFormat | BinaryFormat):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a JsonFormat or BinaryFormat of "
                "ragsonde.decoding.formats"
            )
        added.append(loaded)
    return DEFAULT_FORMATS.extended(added)


@cache
def load_formulas() -> tuple[Formula, ...]:
    """Our formulas and those of installed packages: entry points `ragsonde.scorers`, each a `Formula`.

    Raises:
        ConfigError: one cannot be loaded, is no formula, or has an id or alias of another.
    """
    formulas = list(FORMULAS)
    owners = {name: "ragsonde" for formula in FORMULAS for name in (formula.id, *formula.aliases)}
    for place, loaded in _load(SCORERS):
        if not isinstance(loaded, Formula):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a Formula of ragsonde.scoring.formula"
            )
        for name in (loaded.id, *loaded.aliases):
            if name in owners:
                raise ConfigError(
                    f"{place}: its scorer is named {name}, and so is one of {owners[name]}; "
                    "uninstall one of the packages"
                )
            owners[name] = place
        formulas.append(loaded)
    return tuple(formulas)


@cache
def list_judge_kinds() -> tuple[str, ...]:
    """The kinds of judges that installed packages add; none of them is imported.

    Raises:
        ConfigError: one has the name of another.
    """
    owners: dict[str, str] = dict.fromkeys(JudgeKind, "ragsonde")
    for point in _find(JUDGES):
        if point.name in owners:
            raise ConfigError(
                f"{_name_place(point)}: its kind of judge is named {point.name}, and so is one of "
                f"{owners[point.name]}; uninstall one of the packages"
            )
        owners[point.name] = _name_place(point)
    return tuple(point.name for point in _find(JUDGES))


@cache
def load_judge_kinds() -> Mapping[str, JudgeFactory]:
    """The judges of installed packages by kind: entry points `ragsonde.judges`, each a `JudgeFactory`.

    Raises:
        ConfigError: one cannot be loaded, cannot be called, or has the name of another.
    """
    names = list_judge_kinds()
    factories: dict[str, Any] = {}
    for name, (place, loaded) in zip(names, _load(JUDGES), strict=True):
        if not callable(loaded):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a function from JudgeOptions to a judge"
            )
        factories[name] = loaded
    return factories


@cache
def load_sink_kinds() -> Mapping[str, DestinationFactory]:
    """The score sinks of installed packages by kind: entry points `ragsonde.score_sinks`.

    Each is a function from the setting's `options` to a `ragsonde.sinks.delivery.Destination`.

    Raises:
        ConfigError: one cannot be loaded, cannot be called, or has the name of another.
    """
    owners: dict[str, str] = dict.fromkeys(OWN_KINDS, "ragsonde")
    factories: dict[str, Any] = {}
    for point, (place, loaded) in zip(_find(SCORE_SINKS), _load(SCORE_SINKS), strict=True):
        if point.name in owners:
            raise ConfigError(
                f"{place}: its kind of score sink is named {point.name}, and so is one of "
                f"{owners[point.name]}; uninstall one of the packages"
            )
        if not callable(loaded):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a function from options to a sink"
            )
        owners[point.name] = place
        factories[point.name] = loaded
    return factories


def _load(group: str) -> Iterator[tuple[str, Any]]:
    """Where each object of a group comes from, and the object."""
    for point in _find(group):
        place = _name_place(point)
        try:
            loaded = point.load()
        except Exception as error:
            raise ConfigError(
                f"{place}: cannot be loaded ({type(error).__name__}: {error}); fix or uninstall the package"
            ) from error
        yield place, loaded


def _find(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def _name_place(point: EntryPoint) -> str:
    return f"entry point {point.name} = {point.value} of group {point.group}"
