"""Texts that Postgres and JSON cannot hold, mended: NUL and lone surrogates become U+FFFD."""

from __future__ import annotations

import re
from typing import Any

from ragsonde.extraction.paths import format_path

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WARNINGS_AT_MOST = 20


def mend_text(text: str) -> str:
    """`text` with NUL and lone surrogates replaced by U+FFFD."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def mend_value(value: object) -> tuple[Any, tuple[str, ...]]:
    """A JSON value whose texts, keys too, are mended, and the paths of those that were not well."""
    paths: list[str] = []
    return _mend(value, (), paths), tuple(paths)


def describe_mending(paths: tuple[str, ...]) -> tuple[str, ...]:
    """A warning for each of `paths`; of many the first twenty and how many more there are."""
    warnings = tuple(
        f"{path}: NUL or lone surrogate replaced by U+FFFD" for path in paths[:_WARNINGS_AT_MOST]
    )
    if len(paths) > _WARNINGS_AT_MOST:
        return (*warnings, f"message: {len(paths) - _WARNINGS_AT_MOST} more texts were mended")
    return warnings


def _mend(value: object, place: tuple[str | int, ...], paths: list[str]) -> object:
    if isinstance(value, str):
        if not _UNSTORABLE.search(value):
            return value
        paths.append(format_path(*place))
        return mend_text(value)
    if isinstance(value, list):
        return [_mend(item, (*place, index), paths) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            _mend(key, (*place, key), paths): _mend(item, (*place, key), paths) for key, item in value.items()
        }
    return value
