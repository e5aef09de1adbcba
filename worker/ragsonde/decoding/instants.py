"""Moments as tools other than OpenTelemetry write them, as the nanoseconds of a span."""

from __future__ import annotations

from ragsonde.extraction.foreign import moments

_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def read_instant(value: object) -> int:
    """Nanoseconds since 1970, held to 64 bits; 0 where `value` is no moment. Without a zone it is UTC."""
    return min(max(moments.read_instant(value), _LOWEST), _HIGHEST)
