"""Finds the functions that users name in the settings."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ragsonde_schemas.errors import ConfigError, RagsondeError

GROUP = "ragsonde.extractors"
"""The group of entry points whose names can stand for `module:function`."""

UserFunction = Callable[..., Any]


class LoadingError(RagsondeError):
    """Something of the user's cannot be imported; the message says why."""


def load_function(name: str, *, place: str) -> UserFunction:
    """The function called `module:function`, searched from the working directory on, or an entry point.

    Args:
        name: as in the settings.
        place: where it is set, for messages.

    Raises:
        ConfigError: there is none of that name, or importing it raised.
    """
    try:
        found = _load_entry_point(name, place=place) if ":" not in name else import_named(name)
    except LoadingError as error:
        raise ConfigError(f"{place}: {name}: {error}") from error
    if not callable(found):
        raise ConfigError(f"{place}: {name} is a {type(found).__name__}, expected a function")
    function: UserFunction = found
    return function


def import_named(name: str) -> object:
    """What `module:name` leads to; modules are searched from the working directory on.

    Raises:
        LoadingError: it is not there, or importing it raised.
    """
    module_name, _, function_name = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
        for part in function_name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise LoadingError(f"{error}; modules are searched from {here} on") from error
    except (Exception, SystemExit) as error:
        raise LoadingError(f"importing it raised {type(error).__name__}: {error}; mend the module") from error
    return found


def _load_entry_point(name: str, *, place: str) -> object:
    known = entry_points(group=GROUP)
    named = [point for point in known if point.name == name]
    if not named:
        names = ", ".join(sorted({point.name for point in known})) or "none is installed"
        raise ConfigError(
            f"{place}: no entry point {name} in the group {GROUP} (found: {names}); "
            "a function of a module is written module:function"
        )
    if len({point.value for point in named}) > 1:
        values = ", ".join(sorted({point.value for point in named}))
        raise ConfigError(
            f"{place}: the entry point {name} is defined more than once ({values}); remove one package, or "
            "write module:function"
        )
    try:
        return named[0].load()
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{place}: importing the entry point {name} raised {told}") from error
