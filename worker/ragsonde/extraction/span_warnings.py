"""What decoders left out of spans: kept in the spans, so that it is told whenever they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde_schemas.span import Span

WARNINGS = "ragsonde.warnings"
"""Attribute of a span, a resource or an event: what was left out of it, a text for each part."""

_WARNINGS_AT_MOST = 20


def read_warnings(spans: Iterable[Span]) -> tuple[str, ...]:
    """What decoders left out of the spans, each once; of many the first twenty and how many more."""
    found: dict[str, None] = {}
    for span in spans:
        for attributes in (span.resource, span.attributes, *(event.attributes for event in span.events)):
            given = attributes.get(WARNINGS)
            if isinstance(given, list):
                found.update(dict.fromkeys(item for item in given if isinstance(item, str)))
    warnings = tuple(found)
    if len(warnings) > _WARNINGS_AT_MOST:
        more = len(warnings) - _WARNINGS_AT_MOST
        return (*warnings[:_WARNINGS_AT_MOST], f"spans: {more} more warnings")
    return warnings
