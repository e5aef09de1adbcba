"""Caps on what spans may hold, the same for every OTLP encoding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.span import Span

_HIGH_INDEX = re.compile(
    r"(?:documents|messages|contents|tool_calls|tools|embeddings|evaluations|annotations)\.(\d{4,})(?:\.|$)"
)
"""An index of at least four digits in one of the lists that are flattened into attributes."""


def check_span_count(count: int, *, limits: DecodingLimits) -> None:
    """Raises OVER_LIMIT when a message holds too many spans."""
    if count > limits.spans:
        message = f"found more than {limits.spans} spans, expected at most so many in one message"
        raise DecodeError(ParkReason.OVER_LIMIT, f"{message}; lower the exporter's batch size", where="spans")


def check_indices(spans: Sequence[Span], *, limits: DecodingLimits) -> None:
    """Raises OVER_LIMIT when a flattened list claims an index that no real list reaches."""
    for place, span in enumerate(spans):
        for key in span.attributes:
            match = _HIGH_INDEX.search(key)
            if match and (len(match[1]) > 18 or int(match[1]) > limits.flattened_index):  # noqa: PLR2004 int64
                found = f"found a list index of {len(match[1])} digits"
                raise DecodeError(
                    ParkReason.OVER_LIMIT,
                    f"{found}, expected at most {limits.flattened_index}",
                    where=format_path("spans", place, "attributes", key),
                )
