"""Finds the functions that users name in the settings."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragsonde_schemas.errors import ConfigError, RagsondeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

GROUP = "ragsonde.extractors"
"""The group of entry points whose names can stand for `module:function`."""

UserFunction = Callable[..., Any]


class LoadingError(RagsondeError):
    """Something of the user's cannot be imported; the message says why."""


_NAMED_AT_MOST = 10


def load_functions(places: Mapping[str, str]) -> dict[str, UserFunction]:
    """The functions by name.

    Args:
        places: the names, each with where it is set.

    Raises:
        ConfigError: some cannot be found or imported; all of them together.
    """
    functions: dict[str, UserFunction] = {}
    problems: list[str] = []
    for name, place in places.items():
        try:
            functions[name] = load_function(name, place=place)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(*problems)
    return functions


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
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):  # the module is there, what it imports is not
            raise LoadingError(f"importing it failed: {error}; install that, or mend the module") from error
        near = _name_near(module_name, (path.stem for path in Path(here).glob("*.py")))
        raise LoadingError(f"{error}; modules are searched from {here} on{near}") from error
    except ImportError as error:
        raise LoadingError(f"{error}; modules are searched from {here} on") from error
    except (Exception, SystemExit) as error:
        raise LoadingError(f"importing it raised {type(error).__name__}: {error}; mend the module") from error
    found: Any = module
    for part in function_name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise LoadingError(f"{error}{_describe_functions(module, part)}") from error
    return found


def _describe_functions(module: ModuleType, wanted: str) -> str:
    """What stands in the module instead, as the end of a message."""
    defined = [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
    ]
    if not defined:
        return f"; {module.__name__} defines no function"
    more = f" and {len(defined) - _NAMED_AT_MOST} more" if len(defined) > _NAMED_AT_MOST else ""
    return f"; it defines {', '.join(defined[:_NAMED_AT_MOST])}{more}{_name_near(wanted, defined)}"


def _name_near(wanted: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(wanted, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""


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
