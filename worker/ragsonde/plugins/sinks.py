"""The kinds of score sinks that packages add to ours."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ragsonde.plugins.entry_points import find_points, load_points
from ragsonde.sinks.options import OWN_KINDS
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.sinks.delivery import DestinationFactory

SCORE_SINKS = "ragsonde.score_sinks"


@cache
def load_sink_kinds() -> Mapping[str, DestinationFactory]:
    """The score sinks of installed packages by kind: entry points `ragsonde.score_sinks`.

    Each is a function from the setting's `options` to a `ragsonde.sinks.delivery.Destination`.

    Raises:
        ConfigError: one cannot be loaded, cannot be called, or has the name of another.
    """
    owners: dict[str, str] = dict.fromkeys(OWN_KINDS, "ragsonde")
    factories: dict[str, Any] = {}
    for point, (place, loaded) in zip(find_points(SCORE_SINKS), load_points(SCORE_SINKS), strict=True):
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
