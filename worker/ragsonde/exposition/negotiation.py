"""Which text format a scraper gets: by its Accept header with the weights in it (RFC 9110, 12.5.1)."""

from __future__ import annotations

import math

OPENMETRICS = "application/openmetrics-text"
PLAIN = "text/plain"
_MOST_RANGES = 50


def prefers_openmetrics(accept: str) -> bool:
    """True where the header names OpenMetrics with a weight above 0 and no smaller than the plain format's.

    The client library's own chooser reads no weights. Versions are not looked at: there is one of each.
    """
    weights: dict[str, float] = {}
    for media_range in accept.split(",", _MOST_RANGES)[:_MOST_RANGES]:
        name, *parameters = (part.strip().lower() for part in media_range.split(";"))
        weights[name] = max(weights.get(name, 0.0), _read_weight(parameters))
    plain = next((weights[name] for name in (PLAIN, "text/*", "*/*") if name in weights), 0.0)
    openmetrics = weights.get(OPENMETRICS, 0.0)
    return openmetrics > 0 and openmetrics >= plain


def _read_weight(parameters: list[str]) -> float:
    """The weight of a media range; 0 where it is no number from 0 to 1."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                weight = float(value)
            except ValueError:
                return 0.0
            return weight if math.isfinite(weight) and 0 <= weight <= 1 else 0.0
    return 1.0
