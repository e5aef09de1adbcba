"""Finds and loads what installed packages add."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator


def load_points(group: str) -> Iterator[tuple[str, Any]]:
    """Where each object of a group comes from, and the object.

    Raises:
        ConfigError: one cannot be loaded.
    """
    for point in find_points(group):
        place = name_place(point)
        try:
            loaded = point.load()
        except Exception as error:
            raise ConfigError(
                f"{place}: cannot be loaded ({type(error).__name__}: {error}); fix or uninstall the package"
            ) from error
        yield place, loaded


def find_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name; nothing is imported."""
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def name_place(point: EntryPoint) -> str:
    """Where it comes from, for errors."""
    return f"entry point {point.name} = {point.value} of group {point.group}"
