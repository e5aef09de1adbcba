"""What installed packages add, found by their entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from ragsonde.decoding.formats import BinaryFormat, Formats, JsonFormat
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde_schemas.errors import ConfigError

FORMATS = "ragsonde.formats"


@cache
def load_formats() -> Formats:
    """Our formats and those of installed packages: entry points `ragsonde.formats`, each a format's object.

    Raises:
        ConfigError: one cannot be loaded, is no format, or has the name of another.
    """
    added: list[JsonFormat | BinaryFormat] = []
    for point in sorted(entry_points(group=FORMATS), key=lambda point: point.name):
        place = f"entry point {point.name} = {point.value} of group {FORMATS}"
        try:
            loaded = point.load()
        except Exception as error:
            raise ConfigError(
                f"{place}: cannot be loaded ({type(error).__name__}: {error}); fix or uninstall the package"
            ) from error
        if not isinstance(loaded, JsonFormat | BinaryFormat):
            raise ConfigError(
                f"{place}: found a {type(loaded).__name__}, expected a JsonFormat or BinaryFormat of "
                "ragsonde.decoding.formats"
            )
        added.append(loaded)
    return DEFAULT_FORMATS.extended(added)
