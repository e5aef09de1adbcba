"""The app of traces that name none: `''` where it is stored, `default` wherever people read or write it."""

from __future__ import annotations

DEFAULT_APP = "default"
"""A producer that calls its app so is taken at its word: it names none."""


def show_app(app: str) -> str:
    """The name for people and labels of an app as it is stored."""
    return app or DEFAULT_APP


def read_app(name: str) -> str:
    """The app as it is stored, of a name that a person or a producer gave; the reverse of `show_app`."""
    stripped = name.strip()
    return "" if stripped == DEFAULT_APP else stripped
