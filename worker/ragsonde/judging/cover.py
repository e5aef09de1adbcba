"""Takes out of a provider's words what may not be kept, before they are cut: half an address is not found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ragsonde.redaction.assessments import redact_texts

if TYPE_CHECKING:
    from ragsonde.ports import Redaction

Cover: TypeAlias = Callable[[tuple[str, ...]], tuple[str, ...]]
"""From texts to as many that may be kept and sent; it never fails."""

SHORTEST_CUT = 30
"""Characters: texts that are no longer are nowhere cut, and no verdict is longer than they may be."""


def cover_nothing(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts as they are."""
    return texts


def choose_cover(redaction: Redaction | None) -> Cover:
    """What the setting `redaction` takes out; nothing where it is off."""
    return cover_nothing if redaction is None else partial(redact_texts, redaction=redaction)


def cover_long(value: dict[str, Any], cover: Cover) -> dict[str, Any]:
    """The value with those of its texts covered that may be cut, all in one call."""
    texts = tuple(dict.fromkeys(_list_long(value)))
    if not texts or cover is cover_nothing:
        return value
    return {key: _replace(item, dict(zip(texts, cover(texts), strict=True))) for key, item in value.items()}


def _list_long(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if len(value) > SHORTEST_CUT else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _list_long(item)]


def _replace(value: Any, kept: dict[str, str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return kept.get(value, value)
    if isinstance(value, list):
        return [_replace(item, kept) for item in value]
    return {key: _replace(item, kept) for key, item in value.items()} if isinstance(value, dict) else value
