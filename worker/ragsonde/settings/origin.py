"""Where a value came from."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""A path into the settings: `("judges", 0, "sample")`."""


class Source(IntEnum):
    """The kinds of places a value can come from; a higher one wins."""

    DEFAULT = 0
    FILE = 1
    ENVIRONMENT = 2
    OPTION = 3


class Origin(NamedTuple):
    """Where a value came from.

    Attributes:
        place: the file, the variable or the option; empty for a default.
    """

    source: Source
    place: str = ""

    def __str__(self) -> str:
        return self.place or "default"


DEFAULT = Origin(Source.DEFAULT)


def join_path(path: KeyPath) -> str:
    """A path as people write it: `judges[0].sample`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
