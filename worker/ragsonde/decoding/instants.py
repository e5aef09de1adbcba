"""Moments as tools other than OpenTelemetry write them: ISO 8601, or a number that counts from 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UNITS = ((10**17, 1), (10**14, 1_000), (10**11, 1_000_000))
"""A number of at least this size counts nanoseconds, microseconds, milliseconds; a smaller one seconds.

Each is the year 1973 in its own unit and beyond the year 5000 in the next larger one.
"""
_NUMBER = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,20})?", re.ASCII)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def read_instant(value: object) -> int:
    """Nanoseconds since 1970, held to 64 bits; 0 where `value` is no moment. Without a zone it is UTC."""
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return _hold(_read_date(text))
        value = float(text) if "." in text else int(text)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    factor = next((unit for size, unit in _UNITS if abs(value) >= size), 1_000_000_000)
    return _hold(value * factor) if abs(value) < _HIGHEST else _hold(value)


def _read_date(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND * 1_000


def _hold(value: float) -> int:
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    return int(min(max(value, _LOWEST), _HIGHEST))
