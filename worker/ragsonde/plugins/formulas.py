"""The formulas of scores: ours, and those that packages add."""

from __future__ import annotations

from functools import cache

from ragsonde.plugins.entry_points import load_points
from ragsonde.scoring.formula import Formula
from ragsonde.scoring.table import FORMULAS
from ragsonde_schemas.errors import ConfigError

SCORERS = "ragsonde.scorers"


@cache
def load_formulas() -> tuple[Formula, ...]:
    """Our formulas and those of installed packages: entry points `ragsonde.scorers`, each a `Formula`.

    Raises:
        ConfigError: one cannot be loaded, is no formula, or has an id or alias of another.
    """
    formulas = list(FORMULAS)
    owners = {name: "ragsonde" for formula in FORMULAS for name in (formula.id, *formula.aliases)}
    for place, loaded in load_points(SCORERS):
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
