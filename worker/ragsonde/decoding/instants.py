"""Moments as tools other than OpenTelemetry write them: ISO 8601, or a number that counts from 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UNITS = ((10**17, 1), (10**14, 1_000), (10**11, 1_000_000))
"""A number of at least this size counts nanoseconds, microseconds, milliseconds; a smaller one seconds.

Each is the year 1973 in its own unit and beyond the year 5000 in the next larger one.
"""
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def read_instant(value: object) -> int:
    """Nanoseconds since 1970, 0 where `value` is no moment; without a time zone it is UTC."""
    if isinstance(value, str):
        return _read_text(value.strip())
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    factor = next((unit for size, unit in _UNITS if abs(value) >= size), 1_000_000_000)
    if isinstance(value, int):
        nanoseconds = value * factor
    else:
        nanoseconds = int(value * factor) if abs(value) < _HIGHEST else _HIGHEST
    return min(max(nanoseconds, _LOWEST), _HIGHEST)


def _read_text(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return read_instant(float(text) if "." in text else int(text))
        except (ValueError, OverflowError):
            return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND * 1_000
