"""Caps on what spans may hold, the same for every OTLP encoding, and what is said of what is left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.genai_messages import COMPLETION, PROMPT
from ragsonde.extraction.conventions.openinference_attributes import (
    INPUT_MESSAGES,
    OUTPUT_MESSAGES,
    RERANKED,
    RETRIEVED,
)
from ragsonde.extraction.paths import format_path
from ragsonde.extraction.span_warnings import WARNINGS
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.span import Span

FLATTENED = (RETRIEVED, RERANKED, INPUT_MESSAGES, OUTPUT_MESSAGES, PROMPT, COMPLETION)
"""The lists that are read where they are flattened into attributes; other numbers in names are no indices."""

_WARNINGS_AT_MOST = 5
_HIGH_INDEX = re.compile(
    rf"(?:{'|'.join(map(re.escape, FLATTENED))})\.(?:\d+\.message\.contents\.)?(\d{{4,}})(?:\.|\Z)", re.ASCII
)
"""An index of at least four digits in one of them, or in the parts of a message in one."""


def check_span_count(count: int, *, limits: DecodingLimits) -> None:
    """Raises OVER_LIMIT when a message holds too many spans."""
    if count > limits.spans:
        message = f"found more than {limits.spans} spans, expected at most so many in one message"
        raise DecodeError(ParkReason.OVER_LIMIT, f"{message}; lower the exporter's batch size", where="spans")


def check_any_span(spans: Sequence[Span], faults: Sequence[DecodeError], *, where: str) -> None:
    """Raises the first fault, or INVALID_MESSAGE, when a message holds no good span."""
    if not spans:
        raise next(iter(faults), None) or DecodeError(
            ParkReason.INVALID_MESSAGE, "found no span, expected at least one", where=where
        )


def drop_high_indices(spans: Iterable[Span], *, limits: DecodingLimits) -> tuple[Span, ...]:
    """The spans without the attributes whose index in a flattened list no real list reaches.

    A span that lost some says so in its attribute `ragsonde.warnings`.
    """
    return tuple(_drop_from(span, limits.flattened_index) for span in spans)


def move_warnings(warnings: list[str], *, to: dict[str, Any]) -> None:
    """Notes what was left out of a span, a resource or an event in its own attributes, to be told later.

    Args:
        warnings: emptied.
        to: the attributes; the first five of many warnings and how many more there are become one of them.
    """
    if warnings:
        more = len(warnings) - _WARNINGS_AT_MOST
        rest = (f"{more} more in the same place",) if more > 0 else ()
        to[WARNINGS] = [*to.get(WARNINGS, ()), *warnings[:_WARNINGS_AT_MOST], *rest]
        warnings.clear()


def _drop_from(span: Span, highest: int) -> Span:
    dropped = [key for key in span.attributes if _is_high(key, highest)]
    if not dropped:
        return span
    attributes = {key: value for key, value in span.attributes.items() if key not in set(dropped)}
    place = f"span {span.span_id}"
    expected = f"found a list index above {highest}, expected at most that"
    move_warnings([f"{place}: {format_path(key)}: {expected}; skipped" for key in dropped], to=attributes)
    return span._replace(attributes=attributes)


def _is_high(key: str, highest: int) -> bool:
    match = _HIGH_INDEX.match(key)
    return match is not None and (len(match[1]) > 18 or int(match[1]) > highest)  # noqa: PLR2004 int64
