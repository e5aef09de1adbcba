"""The kinds of judges that packages add to ours."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ragsonde.judging.options import JudgeKind
from ragsonde.plugins.entry_points import find_points, load_points, name_place
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.judging.table import JudgeFactory

JUDGES = "ragsonde.judges"


@cache
def list_judge_kinds() -> tuple[str, ...]:
    """The kinds of judges that installed packages add; none of them is imported.

    Raises:
        ConfigError: one has the name of another.
    """
    owners: dict[str, str] = dict.fromkeys(JudgeKind, "ragsonde")
    for point in find_points(JUDGES):
        if point.name in owners:
            raise ConfigError(
                f"{name_place(point)}: its kind of judge is named {point.name}, and so is one of "
                f"{owners[point.name]}; uninstall one of the packages"
            )
        owners[point.name] = name_place(point)
    return tuple(point.name for point in find_points(JUDGES))


@cache
def load_judge_kinds() -> Mapping[str, JudgeFactory]:
    """The judges of installed packages by kind: entry points `ragsonde.judges`, each a `JudgeFactory`.

    Raises:
        ConfigError: one cannot be loaded, cannot be called, or has the name of another.
    """
    names = list_judge_kinds()
    factories: dict[str, Any] = {}
    for name, (place, loaded) in zip(names, load_points(JUDGES), strict=True):
        if not callable(loaded):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a function from JudgeOptions to a judge"
            )
        factories[name] = loaded
    return factories
