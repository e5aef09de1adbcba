"""The formats that are read: ours, and those that packages add."""

from __future__ import annotations

from functools import cache

from ragsonde.decoding.formats import BinaryFormat, Formats, JsonFormat
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde.plugins.entry_points import load_points
from ragsonde_schemas.errors import ConfigError

FORMATS = "ragsonde.formats"


@cache
def load_formats() -> Formats:
    """Our formats and those of installed packages: entry points `ragsonde.formats`, each a format's object.

    Raises:
        ConfigError: one cannot be loaded, is no format, or has the name of another.
    """
    added: list[JsonFormat | BinaryFormat] = []
    for place, loaded in load_points(FORMATS):
        if not isinstance(loaded, JsonFormat | BinaryFormat):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a JsonFormat or BinaryFormat of "
                "ragsonde.decoding.formats"
            )
        added.append(loaded)
    return DEFAULT_FORMATS.extended(added)
