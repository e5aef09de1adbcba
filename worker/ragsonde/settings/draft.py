"""Values on their way to becoming settings: merged, not yet valid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ragsonde.settings.environment import Assignment, apply_assignment
from ragsonde.settings.fields import Settings
from ragsonde.settings.origin import DEFAULT, KeyPath, Origin, Source, join_path
from ragsonde.settings.problems import find_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LEADING_KEY = re.compile(r"([A-Za-z_][\w.:-]*): ")


class Draft:
    """What the sources said so far.

    Attributes:
        file: the settings file, None without one.
        values: as they will be validated.
        origins: by path, for every value that was set; a path stands for all below it.
        problems: found so far, one sentence each.
    """

    def __init__(self, *, file: Path | None) -> None:
        self.file = file
        self.values: dict[str, Any] = {}
        self.origins: dict[KeyPath, Origin] = {}
        self.problems: list[str] = []

    def set(self, name: str, *, value: object, origin: Origin) -> None:
        """Sets a top-level setting; parts of a nested one that `value` does not name stay as they are."""
        earlier = self.values.get(name)
        if not (isinstance(value, dict) and isinstance(earlier, dict) and find_names(Settings, path=(name,))):
            self.values[name] = value
            self._note((name,), origin=origin)
            return
        self.values[name] = earlier | value
        for part in value:
            path = (name, part)
            self._note(path, origin=origin._replace(place=f"{origin.place}: {join_path(path)}"))

    def assign(self, assignment: Assignment) -> None:
        """Sets what a variable names, over the default where it names only a part of a setting.

        Raises:
            ConfigError: the variable leads nowhere.
        """
        name = assignment.parts[0]
        origin = Origin(Source.ENVIRONMENT, assignment.variable)
        if len(assignment.parts) == 1:
            self.set(name, value=assignment.value, origin=origin)
            return
        if self.values.get(name) is None:
            self.values[name] = _copy_default(name)
        self._note(apply_assignment(self.values, assignment), origin=origin)

    def leaves(self) -> Iterator[tuple[KeyPath, object]]:
        """Every single value with its path."""
        yield from flatten(self.values)

    def find_origin(self, path: KeyPath) -> Origin:
        """Where the value at a path came from."""
        return find_origin(self.origins, path=path)

    def name_place(self, path: KeyPath) -> str:
        """Where a person finds the value at a path: `ragsonde.yaml: judges[0].sample`, `RAGSONDE_THREADS`."""
        for end in range(len(path), 0, -1):
            origin = self.origins.get(path[:end])
            if origin is not None:
                is_whole = origin.source is not Source.FILE and end == len(path)
                return origin.place if is_whole else f"{origin.place}: {join_path(path)}"
        inner = next((origin for known, origin in self.origins.items() if known[: len(path)] == path), None)
        return inner.place if inner is not None and path else join_path(path)

    def add_place(self, problem: str) -> str:
        """A problem that begins with its key, with the place where that key was set in front."""
        key = _LEADING_KEY.match(problem)
        if key is None:
            return problem
        path = tuple(key.group(1).split("."))
        return f"{self.name_place(path)}: {problem[key.end() :]}"

    def _note(self, path: KeyPath, *, origin: Origin) -> None:
        for known in [known for known in self.origins if known[: len(path)] == path]:
            del self.origins[known]
        self.origins[path] = origin


def find_origin(origins: Mapping[KeyPath, Origin], *, path: KeyPath) -> Origin:
    """The origin of the longest known path that leads to `path`, else the default."""
    return next((origins[path[:end]] for end in range(len(path), 0, -1) if path[:end] in origins), DEFAULT)


def flatten(value: object, *, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Every leaf of nested mappings and lists with its path; empty ones are leaves."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flatten(inner, path=(*path, key))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from flatten(inner, path=(*path, index))
    else:
        yield path, value


def _copy_default(name: str) -> list[Any] | dict[str, Any]:
    """A setting's default as plain values, so that a variable can change a part of it."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    if isinstance(default, tuple):
        return [_to_plain(item) for item in default]
    return dict(default) if isinstance(default, dict) else {}


def _to_plain(item: object) -> object:
    return item.model_dump(mode="json", exclude_defaults=True) if isinstance(item, BaseModel) else item
